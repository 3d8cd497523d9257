import type { Attack, HeavyHitter } from '../../api/types.ts';
import { formatNumber, formatPercent } from '../../ui/value/quantity.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { ListButton, type ListButtonProps } from '../lists/actions.tsx';
import { shareOf, zonesText } from './texts.ts';

export interface TopsProps {
  readonly attack: Attack | undefined;
  readonly most: number;
  readonly hasCodes?: boolean;
}

export function TopLists({ attack, most, hasCodes = true }: TopsProps) {
  const { names = [], networks = [], types = [], weight = 0 } = attack?.top ?? {};
  const codes = Object.entries(attack?.response_codes ?? {})
    .map(([value, count]): HeavyHitter => ({ value, count, error: 0 }))
    .sort((one, other) => other.count - one.count);
  const answers = codes.reduce((total, { count }) => total + count, 0);
  const comment = attack === undefined ? '' : `Attack on ${zonesText(attack, 1)}`;
  return (
    <div class="tops">
      <TopList
        title="Names (pattern)"
        hitters={names}
        weight={weight}
        most={most}
        action={{ list: 'allowlist', isName: true, comment }}
      />
      <TopList
        title="Networks (may be spoofed)"
        hitters={networks}
        weight={weight}
        most={most}
        action={{ list: 'denylist', comment }}
      />
      <TopList title="Query types" hitters={types} weight={weight} most={most} />
      {hasCodes && <TopList title="Answers to passed queries" hitters={codes} weight={answers} most={most} />}
    </div>
  );
}

interface TopProps {
  readonly title: string;
  readonly hitters: readonly HeavyHitter[];
  readonly weight: number;
  readonly most: number;
  readonly action?: Omit<ListButtonProps, 'value'>;
}

function TopList({ title, hitters, weight, most, action }: TopProps) {
  return (
    <div class="top">
      <h3>{title}</h3>
      {hitters.length === 0 ? (
        <p class="quiet">–</p>
      ) : (
        <ol>
          {hitters.slice(0, most).map((one) => (
            <li
              key={one.value}
              title={`${formatNumber(one.count)}, overestimated by at most ${formatNumber(one.error)}`}
            >
              <UntrustedText class="top-value" text={one.value} />
              {action && <ListButton {...action} value={one.value} />}
              <span class="number">{formatPercent(shareOf(one, weight))}</span>
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
