import { EmptyState } from '../../../ui/emptyState.tsx';
import { useFirst } from '../../../ui/table/useFirst.tsx';
import { formatQuantity } from '../frames/ether.ts';
import { DecodedData } from '../names/decodedData.tsx';
import { decoder } from '../names/names.ts';
import { AddressLink } from '../parts.tsx';
import type { Log } from '../types.ts';

const MAX_DIGITS = 2_048;

export function Logs({ logs }: { readonly logs: readonly Log[] }) {
  const { first, showMore } = useFirst(logs);
  if (logs.length === 0) return <EmptyState title="No logs" />;
  return (
    <>
      <ol class="logs">
        {first.map((log) => (
          <li key={log.logIndex}>
            <p>
              <span class="quiet">Log {formatQuantity(log.logIndex)} of</span>{' '}
              <AddressLink address={log.address.toLowerCase()} />
            </p>
            <LogData log={log} />
          </li>
        ))}
      </ol>
      {showMore}
    </>
  );
}

function LogData({ log: { address, topics, data } }: { readonly log: Log }) {
  const events = decoder.value?.event(address.toLowerCase(), topics, data) ?? [];
  if (events.some(({ args }) => args !== undefined)) return <DecodedData title="Event" candidates={events} />;
  return (
    <div class="raw">
      {[...topics, data.slice(0, MAX_DIGITS)].map((word, i) => (
        <code key={i}>{word}</code>
      ))}
    </div>
  );
}
