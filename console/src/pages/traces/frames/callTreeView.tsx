import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Folding, type Frame, fold, initialFolding, type Row, rowsOf, showMore } from './callTree.ts';
import { FrameDetails } from './frameDetails.tsx';
import { FrameRow } from './frameRow.tsx';

export interface CallTreeViewProps {
  readonly root: Frame;
  readonly network: string;
  readonly wanted: string | undefined;
  /** Called with the path of a frame when its details are opened, and with undefined when they are closed. */
  readonly chosen: (path: string | undefined) => void;
}

/** Shows the calls of a transaction as an ARIA tree. Arrow keys move and fold, Enter opens the details of a call. */
export function CallTreeView({ root, network, wanted, chosen }: CallTreeViewProps) {
  const folding = useSignal<Folding>(initialFolding(root, wanted));
  const active = useSignal(wanted ?? '');
  const list = useRef<HTMLDivElement>(null);
  const mayFocus = useRef(false);
  const rows = rowsOf(root, folding.value);
  const frames = rows.flatMap((row) => (row.kind === 'frame' ? [row.frame] : []));
  useEffect(() => {
    if (mayFocus.current) list.current?.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]')?.focus();
  });
  const toggle = (frame: Frame, isOpen = !folding.value.open.has(frame.path)) => {
    folding.value = fold(folding.value, frame.path, isOpen);
  };
  const goBy = (step: number) => {
    const at = frames.findIndex(({ path }) => path === active.value);
    active.value = frames[Math.min(frames.length - 1, Math.max(0, at + step))]?.path ?? '';
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.role !== 'treeitem') return;
    const frame = frames.find(({ path }) => path === active.value);
    if (frame === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const isOpen = folding.value.open.has(frame.path);
    const keys: Record<string, (() => void) | undefined> = {
      ArrowDown: () => goBy(1),
      ArrowUp: () => goBy(-1),
      Home: () => goBy(-frames.length),
      End: () => goBy(frames.length),
      ArrowRight: () => (frame.children.length > 0 && !isOpen ? toggle(frame, true) : goBy(1)),
      ArrowLeft: () => {
        if (isOpen) toggle(frame, false);
        else active.value = frame.path.includes('.') ? frame.path.slice(0, frame.path.lastIndexOf('.')) : '';
      },
      Enter: () => chosen(wanted === frame.path ? undefined : frame.path),
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    mayFocus.current = true;
    act();
  };
  return (
    <div class="call-tree" role="tree" aria-label="Calls" ref={list} onKeyDown={onKeyDown}>
      {rows.map((row) => (
        <TreeRow
          key={row.kind === 'frame' ? row.frame.path : `${row.parent.path} more`}
          {...{ row, root, network, wanted, chosen, toggle }}
          folding={folding.value}
          active={active.value}
          more={(frame) => {
            folding.value = showMore(folding.value, frame);
          }}
        />
      ))}
    </div>
  );
}

interface TreeRowProps extends CallTreeViewProps {
  readonly row: Row;
  readonly folding: Folding;
  readonly active: string;
  readonly toggle: (frame: Frame) => void;
  readonly more: (frame: Frame) => void;
}

function TreeRow({ row, root, network, wanted, chosen, folding, active, toggle, more }: TreeRowProps) {
  if (row.kind === 'more')
    return (
      <div
        role="treeitem"
        tabIndex={-1}
        aria-level={row.parent.depth + 2}
        class="more"
        data-depth={Math.min(MAX_INDENT, row.parent.depth + 1)}
      >
        <button type="button" onClick={() => more(row.parent)}>
          Show more calls ({row.left} left)
        </button>
      </div>
    );
  const { frame, place, of } = row;
  const { path, depth, children } = frame;
  const isChosen = wanted === path;
  return (
    <div
      role="treeitem"
      tabIndex={active === path ? 0 : -1}
      aria-level={depth + 1}
      aria-posinset={place}
      aria-setsize={of}
      aria-selected={isChosen}
      aria-expanded={children.length === 0 ? undefined : folding.open.has(path)}
      data-depth={Math.min(MAX_INDENT, depth)}
      data-path={path}
    >
      <FrameRow
        {...{ frame, root, network, isChosen }}
        isOpen={folding.open.has(path)}
        toggle={() => toggle(frame)}
        choose={() => chosen(isChosen ? undefined : path)}
      />
      {isChosen && <FrameDetails frame={frame} network={network} />}
    </div>
  );
}

/** Level of the tree from which rows are not indented further. Each row also shows its level as a number. */
const MAX_INDENT = 12;
