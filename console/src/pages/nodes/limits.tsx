import type { Health } from '../../api/operator.ts';
import { wordFor } from '../../ui/quantity.tsx';
import { countText } from '../traces/ether.ts';
import { Figure } from './networkSection.tsx';
import { bytesText } from './words.ts';

/** What each limit is there for. */
const LIMITS: Readonly<Record<string, string>> = {
  in_flight: 'too much at once',
  address_rate: 'over the rate of an address',
  key_rate: 'over the rate of a key',
  unauthorized: 'without a valid key',
  unsent_bytes: 'answers not read',
  node_budget: 'over the budget of the nodes',
  unsupported_method: 'a method that is not served',
  connections: 'too many WebSockets',
  subscriptions: 'too many subscriptions',
};

/** Who was refused, and what the server holds. */
export function Limits({ health: { limited, http, stores, memory, versions } }: { readonly health: Health }) {
  const hit = Object.entries(limited).filter(([, count]) => count > 0);
  const refused = hit.reduce((all, [, count]) => all + count, 0);
  return (
    <section class="network">
      <h2>Limits</h2>
      <dl class="figures">
        <Figure name="refused by a limit" value={countText(refused)}>
          {wordFor(refused, 'request', 'requests')} since the start
        </Figure>
        {hit.map(([limit, count]) => (
          <Figure key={limit} name={LIMITS[limit] ?? limit} value={countText(count)}>
            {wordFor(count, 'request', 'requests')} since the start
          </Figure>
        ))}
        <Figure name="connections" value={countText(http.connections)}>
          open; {bytesText(http.unsent_bytes)} not taken by clients
        </Figure>
        <Figure name="memory" value={bytesText(memory.rss_bytes)}>
          of the process
        </Figure>
        <Figure name="stores" value={bytesText(stores.reduce((all, { bytes }) => all + bytes, 0))}>
          on disk
        </Figure>
        <Figure name="version" value={versions.floodgate}>
          on Node {versions.node}
        </Figure>
      </dl>
    </section>
  );
}
