import { live } from '../live.ts';
import { Plain } from '../ui/plain.tsx';

/** Attacks that last; the list of all follows. */
export function Attacks() {
  return (
    <div class="page">
      <h1>Attacks</h1>
      <ul>
        {(live.value?.guard?.attacks ?? []).map(({ id, zones }) => (
          <li key={id}>
            <Plain text={zones.join(', ')} />
          </li>
        ))}
      </ul>
    </div>
  );
}
