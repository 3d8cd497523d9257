import { useMemo } from 'preact/hooks';
import { escapeInvisible } from '../../../ui/value/escapeInvisible.ts';
import { decoder } from '../names/names.ts';
import type { Frame } from './callTree.ts';
import { failureOfTrace, gasUsedOf, labelOf } from './describe.ts';
import { formatQuantity } from './ether.ts';
import { flameOf } from './flame.ts';

const BOX_PX = 22;

interface FlameGraphProps {
  readonly root: Frame;
  readonly wanted: string | undefined;
  readonly chosen: (path: string | undefined) => void;
}

/** Shows which calls used the gas. The tree below has the same calls and figures for keyboards and screen readers. */
export function FlameGraph({ root, wanted, chosen }: FlameGraphProps) {
  const boxes = useMemo(() => flameOf(root), [root]);
  if (boxes.length < 2) return null;
  const levels = Math.max(...boxes.map(({ frame }) => frame.depth)) + 1;
  return (
    <div class="flame" aria-hidden="true" style={{ height: `${levels * BOX_PX}px` }}>
      {boxes.map(({ frame, left, width }) => {
        const name = escapeInvisible(labelOf(frame.trace, decoder.value, frame.isUndone).text);
        const hasFailed = failureOfTrace(frame.trace) !== undefined;
        const state = `${hasFailed ? 'has-failed' : ''} ${frame.path === wanted ? 'is-chosen' : ''}`;
        return (
          <button
            key={frame.path}
            type="button"
            tabIndex={-1}
            class={`flame-box level-${frame.depth % 3} ${state}`}
            style={{ left: `${left}%`, width: `${width}%`, top: `${frame.depth * BOX_PX}px` }}
            title={`${name}: ${formatQuantity(gasUsedOf(frame.trace) ?? 0n)} gas, ${width.toFixed(1)} %`}
            onClick={() => chosen(frame.path)}
          >
            {hasFailed && '✕ '}
            {name}
          </button>
        );
      })}
    </div>
  );
}
