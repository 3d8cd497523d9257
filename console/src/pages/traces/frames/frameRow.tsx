import { decoder } from '../names/names.ts';
import { NameText } from '../names/nameText.tsx';
import { AddressLink, Ether, Failed } from '../parts.tsx';
import { countBelow, type Frame } from './callTree.ts';
import { failureOfTrace, gasUsedOf, labelOf, partiesOf, valueMoved } from './describe.ts';
import { formatQuantity } from './ether.ts';

interface FrameRowProps {
  readonly frame: Frame;
  readonly root: Frame;
  readonly network: string;
  readonly isOpen: boolean;
  readonly isChosen: boolean;
  readonly toggle: () => void;
  readonly choose: () => void;
}

export function FrameRow({ frame, root, network, isOpen, isChosen, toggle, choose }: FrameRowProps) {
  const { trace, children, depth, isUndone } = frame;
  const { from, to } = partiesOf(trace);
  const value = valueMoved(trace, isUndone);
  const folded = isOpen || children.length === 0 ? undefined : countBelow(frame);
  return (
    <div class="frame">
      {children.length > 0 ? (
        <button
          type="button"
          class="fold"
          tabIndex={-1}
          onClick={toggle}
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
          onClick={choose}
          aria-expanded={isChosen}
        >
          <NameText name={labelOf(trace, decoder.value, isUndone)} />
        </button>
        {depth === 0 && (
          <span class="caller">
            <AddressLink address={from} network={network} /> →
          </span>
        )}
        <AddressLink address={to} network={network} />
        {value > 0n && <Ether wei={value} />}
        <Failed reason={failureOfTrace(trace)} />
        {folded && (
          <span class="quiet">
            {formatQuantity(folded.frames)} {folded.frames === 1 ? 'call' : 'calls'} below
            {folded.failed > 0 && `, ${formatQuantity(folded.failed)} failed`}
          </span>
        )}
      </span>
    </div>
  );
}

const PERCENT = 100;

/** Shows the gas that a frame used, and its share of the gas that the root frame used. */
function Gas({ frame, root }: { readonly frame: Frame; readonly root: Frame }) {
  const gas = gasUsedOf(frame.trace);
  const all = gasUsedOf(root.trace) ?? 0n;
  const share = gas === undefined || all === 0n ? 0 : Math.min(PERCENT, Number((gas * 1000n) / all) / 10);
  return (
    <span
      class="gas"
      title={gas === undefined ? 'Not known: the call failed' : `${share} % of the gas of the transaction`}
    >
      <span class="gas-bar" aria-hidden="true">
        <span style={{ width: `${share}%` }} />
      </span>
      <span class="number">{gas === undefined ? '—' : formatQuantity(gas)}</span>
    </span>
  );
}
