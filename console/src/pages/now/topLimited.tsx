import { readAttack } from '../../api/account.ts';
import { currentAttacks } from '../../attackSign.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { topHeading } from '../attacks/texts.ts';
import { TopLists } from '../attacks/tops.tsx';

const REFRESH_MS = 2_000;

export function TopLimited() {
  const largest = currentAttacks.value[0];
  const read = largest && (() => readAttack(largest.id));
  const { value } = useLoaded(read, [largest?.id], { everyMs: REFRESH_MS });
  const attack = value?.result;
  return (
    <section class="top-limited">
      <h3>{largest === undefined ? 'Limited most' : topHeading(largest)}</h3>
      <p class="quiet">{largest === undefined ? 'No attack now.' : 'Since the start of the attack.'}</p>
      {largest !== undefined && <TopLists attack={attack} most={5} hasCodes={false} />}
    </section>
  );
}
