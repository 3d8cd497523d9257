import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import {
  allOpen,
  countBelow,
  type Frame,
  fold,
  initiallyOpen,
  MAX_ROWS,
  type Open,
  rowsOf,
} from './callTree.ts';
import { formatQuantity } from './ether.ts';
import { TreeRow } from './treeRow.tsx';
import { useVisibleRows } from './visibleRows.ts';

export interface CallTreeViewProps {
  readonly root: Frame;
  readonly wanted: string | undefined;
  /** Called with the path of a frame when its details are opened, and with undefined when they are closed. */
  readonly chosen: (path: string | undefined) => void;
}

/** Shows the calls of a transaction as an ARIA tree. Arrow keys move and fold, Enter opens the details of a call. */
export function CallTreeView({ root, wanted, chosen }: CallTreeViewProps) {
  const open = useSignal<Open>(initiallyOpen(root, wanted));
  const active = useSignal(wanted ?? '');
  const list = useRef<HTMLDivElement>(null);
  const mayFocus = useRef(false);
  const rows = useMemo(() => rowsOf(root, open.value), [root, open.value]);
  const indexOf = (path: string | undefined) => rows.findIndex(({ frame }) => frame.path === path);
  const { first, end, abovePx, belowPx, reveal } = useVisibleRows(list, rows.length, indexOf(wanted));
  const visible = rows.slice(first, end);
  const isActiveVisible = visible.some(({ frame }) => frame.path === active.value);
  useEffect(() => {
    if (wanted === undefined) return;
    let unfolded = open.value;
    for (let path = wanted; path !== ''; path = callerOf(path))
      unfolded = fold(unfolded, callerOf(path), true);
    open.value = unfolded;
    active.value = wanted;
    reveal(rowsOf(root, unfolded).findIndex(({ frame }) => frame.path === wanted));
  }, [wanted]);
  useEffect(() => {
    if (!mayFocus.current) return;
    if (isActiveVisible) list.current?.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]')?.focus();
    else reveal(indexOf(active.value));
  }, [active.value, isActiveVisible]);
  const toggle = (frame: Frame, isOpen = !open.value.has(frame.path)) => {
    open.value = fold(open.value, frame.path, isOpen);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.role !== 'treeitem') return;
    const at = indexOf(active.value);
    const frame = rows[at]?.frame;
    if (frame === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const goBy = (step: number) => {
      active.value = rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.frame.path ?? '';
    };
    const isOpen = open.value.has(frame.path);
    const keys: Record<string, (() => void) | undefined> = {
      ArrowDown: () => goBy(1),
      ArrowUp: () => goBy(-1),
      Home: () => goBy(-rows.length),
      End: () => goBy(rows.length),
      ArrowRight: () => (frame.children.length > 0 && !isOpen ? toggle(frame, true) : goBy(1)),
      ArrowLeft: () => {
        if (isOpen) toggle(frame, false);
        else active.value = callerOf(frame.path);
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
    <>
      <TreeSize root={root} rows={rows.length} set={(changed) => (open.value = changed)} />
      <div class="frame caption" aria-hidden="true">
        <span />
        <span class="number">Gas used</span>
        <span>Level and call</span>
      </div>
      <div
        class="call-tree"
        role="tree"
        aria-label="Calls"
        ref={list}
        style={{ paddingTop: `${abovePx}px`, paddingBottom: `${belowPx}px` }}
        onKeyDown={onKeyDown}
      >
        {visible.map((row, i) => (
          <TreeRow
            key={row.frame.path}
            row={row}
            root={root}
            wanted={wanted}
            chosen={chosen}
            toggle={toggle}
            isOpen={open.value.has(row.frame.path)}
            isActive={isActiveVisible ? row.frame.path === active.value : i === 0}
          />
        ))}
      </div>
    </>
  );
}

const callerOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')));

interface TreeSizeProps {
  readonly root: Frame;
  readonly rows: number;
  readonly set: (open: Open) => void;
}

function TreeSize({ root, rows, set }: TreeSizeProps) {
  const calls = useMemo(() => countBelow(root).frames + 1, [root]);
  const isLimited = useSignal(false);
  if (calls === 1) return null;
  const unfold = () => {
    const all = allOpen(root);
    isLimited.value = all.rows < calls;
    set(all.open);
  };
  return (
    <p class="tree-size" role="status">
      <span class={isLimited.value ? 'look' : 'quiet'}>
        {rows === calls
          ? `All ${formatQuantity(calls)} calls are visible`
          : `${formatQuantity(rows)} of ${formatQuantity(calls)} calls are visible`}
        {isLimited.value &&
          `. ▲ “Unfold all” stops at ${formatQuantity(MAX_ROWS)} calls; unfold others one by one`}
      </span>
      <button type="button" class="plain-button" disabled={rows === calls} onClick={unfold}>
        Unfold all
      </button>
      <button type="button" class="plain-button" disabled={rows === 1} onClick={() => set(new Set())}>
        Fold all
      </button>
    </p>
  );
}
