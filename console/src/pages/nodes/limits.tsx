import type { Health } from '../../api/operator.ts';
import { pluralOf } from '../../ui/value/quantity.tsx';
import { formatQuantity } from '../traces/frames/ether.ts';
import { Figure } from './networkSection.tsx';
import { formatBytes } from './texts.ts';

const LIMITS: Readonly<Record<string, string>> = {
  in_flight: 'Too many requests in flight',
  address_rate: 'Rate limit of an address',
  key_rate: 'Rate limit of a key',
  unauthorized: 'No valid key',
  unsent_bytes: 'Unread responses',
  node_budget: 'Budget of the nodes',
  unsupported_method: 'Unsupported method',
  connections: 'Too many WebSockets',
  subscriptions: 'Too many subscriptions',
};

/** Shows how many requests each limit rejected, and the resources that the server uses. */
export function Limits({ health: { limited, http, stores, memory, versions } }: { readonly health: Health }) {
  const hit = Object.entries(limited).filter(([, count]) => count > 0);
  const refused = hit.reduce((all, [, count]) => all + count, 0);
  return (
    <section class="network">
      <h2>Server</h2>
      <dl class="figures">
        <Figure name="Rejected by a limit" value={formatQuantity(refused)}>
          {pluralOf(refused, 'request', 'requests')} since server start
        </Figure>
        <Figure name="Connections" value={formatQuantity(http.connections)}>
          open; {formatBytes(http.unsent_bytes)} unread
        </Figure>
        <Figure name="Memory" value={formatBytes(memory.rss_bytes)}>
          of the process
        </Figure>
        <Figure name="Stores" value={formatBytes(stores.reduce((all, { bytes }) => all + bytes, 0))}>
          on disk
        </Figure>
        <Figure name="Version" value={versions.floodgate}>
          on Node {versions.node}
        </Figure>
        {/* They are last on the page, so that a limit that is reached for the first time moves nothing. */}
        {hit.map(([limit, count]) => (
          <Figure key={limit} name={LIMITS[limit] ?? limit} value={formatQuantity(count)}>
            {pluralOf(count, 'request', 'requests')} since server start
          </Figure>
        ))}
      </dl>
    </section>
  );
}
