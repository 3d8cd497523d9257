import type { Attack, HeavyHitter } from '../../api/types.ts';
import { Plain } from '../../ui/plain.tsx';
import { numberText, percentText } from '../../ui/quantity.tsx';
import { shareOf } from './words.ts';

export interface TopsProps {
  readonly attack: Attack | undefined;
  /** Lines of each list. */
  readonly most: number;
}

/** Names, networks, types and answers, the most frequent first. */
export function Tops({ attack, most }: TopsProps) {
  const { names = [], networks = [], types = [], weight = 0 } = attack?.top ?? {};
  const codes = Object.entries(attack?.response_codes ?? {})
    .map(([value, count]): HeavyHitter => ({ value, count, error: 0 }))
    .sort((one, other) => other.count - one.count);
  const answers = codes.reduce((total, { count }) => total + count, 0);
  return (
    <div class="tops">
      <Top title="names (pattern)" hitters={names} weight={weight} most={most} />
      <Top title="networks (may be forged)" hitters={networks} weight={weight} most={most} />
      <Top title="query types" hitters={types} weight={weight} most={most} />
      <Top title="answers to what passed" hitters={codes} weight={answers} most={most} />
    </div>
  );
}

interface TopProps {
  readonly title: string;
  readonly hitters: readonly HeavyHitter[];
  readonly weight: number;
  readonly most: number;
}

function Top({ title, hitters, weight, most }: TopProps) {
  return (
    <div class="top">
      <h3>{title}</h3>
      {hitters.length === 0 ? (
        <p class="quiet">–</p>
      ) : (
        <ol>
          {hitters.slice(0, most).map((one) => (
            <li key={one.value} title={`${numberText(one.count)}, at most ${numberText(one.error)} too many`}>
              <span class="top-value">
                <Plain text={one.value} />
              </span>
              <span class="number">{percentText(shareOf(one, weight))}</span>
              <span class="bar-place" aria-hidden="true">
                <span style={{ width: `${shareOf(one, weight) * 100}%` }} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
