import { Plain } from '../../ui/plain.tsx';
import { countBelow, type Frame } from './callTree.ts';
import { calledOf, endsOf, failureOfTrace, gasUsedOf, movedBy } from './describe.ts';
import { countText } from './ether.ts';
import { AddressLink, Ether, Failed } from './parts.tsx';

interface FrameRowProps {
  readonly frame: Frame;
  readonly root: Frame;
  readonly network: string;
  readonly isOpen: boolean;
  readonly isChosen: boolean;
  readonly toggle: () => void;
  readonly choose: () => void;
}

/** One call: who is called, what with, what it cost, and whether it failed. */
export function FrameRow({ frame, root, network, isOpen, isChosen, toggle, choose }: FrameRowProps) {
  const { trace, children, depth } = frame;
  const { from, to } = endsOf(trace);
  const value = movedBy(trace);
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
          <Plain text={calledOf(trace)} />
        </button>
        {depth === 0 && (
          <>
            <AddressLink address={from} network={network} /> →
          </>
        )}
        <AddressLink address={to} network={network} />
        {value > 0n && <Ether wei={value} />}
        <Failed reason={failureOfTrace(trace)} />
        {folded && (
          <span class="quiet">
            {countText(folded.frames)} {folded.frames === 1 ? 'call' : 'calls'} below
            {folded.failed > 0 && `, ${countText(folded.failed)} failed`}
          </span>
        )}
      </span>
    </div>
  );
}

const PERCENT = 100;

/** Its share of the gas that the whole transaction used in its calls. */
function Gas({ frame, root }: { readonly frame: Frame; readonly root: Frame }) {
  const gas = gasUsedOf(frame.trace);
  const all = gasUsedOf(root.trace) ?? 0n;
  const share = gas === undefined || all === 0n ? 0 : Math.min(PERCENT, Number((gas * 1000n) / all) / 10);
  return (
    <span
      class="gas"
      title={gas === undefined ? 'Not known: it failed' : `${share} % of the gas of the whole`}
    >
      <span class="gas-bar" aria-hidden="true">
        <span style={{ width: `${share}%` }} />
      </span>
      <span class="number">{gas === undefined ? '—' : countText(gas)}</span>
    </span>
  );
}
