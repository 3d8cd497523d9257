import type { Schemas } from '../../api/types.ts';
import { pluralOf } from '../../ui/value/quantity.tsx';
import { formatQuantity } from '../traces/frames/ether.ts';
import { Figures } from './figures.tsx';
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

export function Limits({ health }: { readonly health: Schemas['Health'] }) {
  const { limited, http, stores, memory, versions } = health;
  const hit = Object.entries(limited).filter(([, count]) => count > 0);
  const rejections = (name: string, count: number) =>
    [name, formatQuantity(count), `${pluralOf(count, 'request')} since server start`] as const;
  return (
    <section class="network">
      <h2>Server</h2>
      <Figures
        rows={[
          rejections(
            'Rejected by a limit',
            hit.reduce((all, [, count]) => all + count, 0),
          ),
          ['Connections', formatQuantity(http.connections), `open; ${formatBytes(http.unsent_bytes)} unread`],
          ['Memory', formatBytes(memory.rss_bytes), 'of the process'],
          ['Stores', formatBytes(stores.reduce((all, { bytes }) => all + bytes, 0)), 'on disk'],
          ['Version', versions.floodgate, `on Node ${versions.node}`],
          // They are last on the page, so that a limit that is reached for the first time moves nothing.
          ...hit.map(([limit, count]) => rejections(LIMITS[limit] ?? limit, count)),
        ]}
      />
    </section>
  );
}
