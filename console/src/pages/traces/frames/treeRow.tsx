import { counted } from '../../../ui/value/quantity.tsx';
import { decoder } from '../names/names.ts';
import { NameText } from '../names/nameText.tsx';
import { AddressLink, Ether, Failed } from '../parts.tsx';
import { countBelow, type Frame, type Row } from './callTree.ts';
import { failureOfTrace, gasUsedOf, labelOf, partiesOf, valueMoved } from './describe.ts';
import { formatQuantity } from './ether.ts';
import { FrameDetails } from './frameDetails.tsx';

/** Level of the tree from which rows are not indented further. Each row also shows its level as a number. */
const MAX_INDENT = 12;

interface TreeRowProps {
  readonly row: Row;
  readonly root: Frame;
  readonly wanted: string | undefined;
  readonly chosen: (path: string | undefined) => void;
  readonly isOpen: boolean;
  readonly isActive: boolean;
  readonly toggle: (frame: Frame) => void;
}

export function TreeRow({ row, root, wanted, chosen, isOpen, isActive, toggle }: TreeRowProps) {
  const { frame, place, of } = row;
  const { trace, path, children, depth, isUndone } = frame;
  const isChosen = wanted === path;
  const { from, to } = partiesOf(trace);
  const value = valueMoved(trace, isUndone);
  const folded = isOpen || children.length === 0 ? undefined : countBelow(frame);
  return (
    <div
      role="treeitem"
      tabIndex={isActive ? 0 : -1}
      aria-level={depth + 1}
      aria-posinset={place}
      aria-setsize={of}
      aria-selected={isChosen}
      aria-expanded={children.length === 0 ? undefined : isOpen}
      style={{ '--depth': Math.min(MAX_INDENT, depth) }}
      data-path={path}
    >
      <div class="frame">
        {children.length > 0 ? (
          <button
            type="button"
            class="fold"
            tabIndex={-1}
            onClick={() => toggle(frame)}
            aria-label={isOpen ? 'Fold' : 'Unfold'}
          >
            {isOpen ? '▾' : '▸'}
          </button>
        ) : (
          <span class="fold" />
        )}
        <Gas frame={frame} root={root} />
        <span class="what">
          <span class="depth quiet" title="Level">
            {depth}
          </span>
          <button
            type="button"
            class="plain-button called"
            tabIndex={-1}
            onClick={() => chosen(isChosen ? undefined : path)}
            aria-expanded={isChosen}
          >
            <NameText name={labelOf(trace, decoder.value, isUndone)} />
          </button>
          {depth === 0 && (
            <span class="caller">
              <AddressLink address={from} /> →
            </span>
          )}
          <AddressLink address={to} />
          {value > 0n && <Ether wei={value} />}
          <Failed reason={failureOfTrace(trace)} />
          {folded && (
            <span class="quiet">
              {counted(folded.frames, 'call')} below
              {folded.failed > 0 && `, ${formatQuantity(folded.failed)} failed`}
            </span>
          )}
        </span>
      </div>
      {isChosen && <FrameDetails frame={frame} />}
    </div>
  );
}

const PERCENT = 100;

function Gas({ frame, root }: { readonly frame: Frame; readonly root: Frame }) {
  const gas = gasUsedOf(frame.trace);
  const all = gasUsedOf(root.trace) ?? 0n;
  const share = gas === undefined || all === 0n ? 0 : Math.min(PERCENT, Number((gas * 1000n) / all) / 10);
  return (
    <span
      class="gas"
      title={gas === undefined ? 'Not known: the call failed' : `${share} % of the gas of all calls`}
    >
      <span class="gas-bar" aria-hidden="true">
        <span style={{ width: `${share}%` }} />
      </span>
      <span class="number">{gas === undefined ? '—' : formatQuantity(gas)}</span>
    </span>
  );
}
