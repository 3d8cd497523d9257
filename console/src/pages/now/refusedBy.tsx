import type { Answer } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import { readAttack } from '../../api/guard.ts';
import type { Attack } from '../../api/types.ts';
import { live, turnOf } from '../../live.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Tops } from '../attacks/tops.tsx';

const REFRESH_MS = 2_000;

/** Of the largest attack that lasts: what is refused most. Its place is kept while there is none. */
export function RefusedBy() {
  const guard = live.value?.guard;
  const largest = guard?.attacks.toSorted((one, other) => other.now.queries - one.now.queries)[0];
  const turn = largest === undefined ? 0 : turnOf(REFRESH_MS);
  const { loaded } = useLoaded(
    async (): Promise<Outcome<Answer<Attack> | undefined>> =>
      largest === undefined ? { value: undefined } : readAttack(largest.id),
    [largest?.id, turn],
  );
  const attack = largest === undefined ? undefined : loaded.value.value?.result;
  return (
    <section>
      <h2>
        {largest === undefined || largest.rule?.mode === 'enabled' ? 'Refused most' : 'Would be refused most'}{' '}
        <span class="quiet">{largest === undefined ? 'nothing now' : 'since the attack began'}</span>
      </h2>
      <Tops attack={attack} most={5} />
    </section>
  );
}
