import { setNode } from '../../api/server.ts';
import type { Schemas } from '../../api/types.ts';
import { may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { confirm } from '../../ui/form/confirm.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useAction } from '../../ui/useAction.ts';
import { escapeInvisible } from '../../ui/value/escapeInvisible.ts';
import { counted, formatPercent } from '../../ui/value/quantity.tsx';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { formatQuantity } from '../traces/frames/ether.ts';
import { Figures } from './figures.tsx';
import { formatBytes, HEALTH } from './texts.ts';

interface NetworkSectionProps {
  readonly network: Schemas['NetworkHealth'];
  readonly changed: () => void;
}

export function NetworkSection({ network, changed }: NetworkSectionProps) {
  const { failure, run } = useAction();
  const set = async (node: string, action: 'drain' | 'resume') => {
    const answer = await run(setNode(network.network, node, action));
    changed();
    return 'value' in answer;
  };
  const drain = async ({ node }: Schemas['NodeHealth']) => {
    const isWanted = await confirm({
      title: `Drain ${node}?`,
      text: 'It finishes its current calls, and receives no new ones. The other nodes take over.',
      action: 'Drain',
    });
    if (isWanted && (await set(node, 'drain')))
      showToast(`${node} is drained.`, () => void set(node, 'resume'));
  };
  const { index, cache } = network;
  const asked = cache.hits + cache.coalesced + cache.misses;
  return (
    <section class="network">
      <h2>
        <UntrustedText text={network.network} />
        <span class="quiet">
          {network.chain_id !== null && `, chain ${Number(network.chain_id)}`}
          {network.head_block !== null && `, head ${formatQuantity(network.head_block)}`}
        </span>
        {index.failure !== null && (
          <span class="index-failure harm">
            ✕ Indexing failed: <UntrustedText text={index.failure} />
          </span>
        )}
      </h2>
      {failure && <ErrorBox failure={failure} />}
      <Table
        caption={`Nodes of ${network.network}`}
        columns={columns({ nodes: network.nodes, drain, resume: ({ node }) => void set(node, 'resume') })}
        rows={network.nodes}
        keyOf={({ node }) => node}
        isWide
      />
      <Figures
        rows={[
          [
            'Index',
            index.head_block === null ? 'empty' : `to block ${formatQuantity(index.head_block)}`,
            index.lag_blocks === null ? '' : `${counted(index.lag_blocks, 'block')} behind the head`,
          ],
          index.first_missing_block === null
            ? ['Gaps', 'none', 'all configured blocks are indexed']
            : [
                'Gaps',
                `from block ${formatQuantity(index.first_missing_block)}`,
                'responses list the missing blocks',
              ],
          [
            'Indexing',
            `${index.blocks_per_second} blocks/s`,
            `last minute; ${formatBytes(index.bytes)} on disk`,
          ],
          [
            'Answered from the cache',
            asked === 0 ? '—' : formatPercent((cache.hits + cache.coalesced) / asked),
            `of ${counted(asked, 'call')} since server start`,
          ],
        ]}
      />
    </section>
  );
}

interface Actions {
  readonly nodes: readonly Schemas['NodeHealth'][];
  readonly drain: (node: Schemas['NodeHealth']) => void;
  readonly resume: (node: Schemas['NodeHealth']) => void;
}

function columns({ nodes, drain, resume }: Actions): readonly Column<Schemas['NodeHealth']>[] {
  // The last healthy node of a network has no active button, because the server refuses to drain it.
  const isLast = nodes.filter(({ health }) => health === 'healthy').length < 2;
  const isOperator = may('nodes:write');
  return [
    {
      title: 'Node',
      cell: ({ node, host }) => (
        <span class="two-lines">
          <UntrustedText text={node} />
          <UntrustedText class="quiet" text={host} />
        </span>
      ),
    },
    { title: 'Health', cell: (node) => <HealthOf node={node} /> },
    {
      title: 'Head',
      isNumber: true,
      cell: ({ head_block }) => (head_block === null ? '—' : formatQuantity(head_block)),
    },
    {
      title: 'Lag',
      isNumber: true,
      cell: ({ lag_blocks }) => (lag_blocks === null ? '—' : counted(lag_blocks, 'block')),
    },
    {
      title: 'Latency',
      isNumber: true,
      cell: ({ latency_ms }) => `${latency_ms.toFixed(1)} ms`,
    },
    { title: 'In flight', isNumber: true, cell: ({ in_flight }) => formatQuantity(in_flight) },
    { title: 'Failures', isNumber: true, cell: ({ failures }) => formatQuantity(failures) },
    ...(isOperator
      ? [
          {
            title: 'Service',
            isNumber: true,
            cell: (node: Schemas['NodeHealth']) =>
              node.health === 'drained' || node.health === 'quarantined' ? (
                <button type="button" onClick={() => resume(node)}>
                  Resume
                </button>
              ) : (
                <button
                  type="button"
                  disabled={isLast || node.health !== 'healthy'}
                  onClick={() => drain(node)}
                >
                  Drain
                </button>
              ),
          },
        ]
      : []),
  ];
}

function HealthOf({ node: { health, last_failure } }: { readonly node: Schemas['NodeHealth'] }) {
  const { sign, tone, word, means } = HEALTH[health];
  return (
    <span class="two-lines" title={means}>
      <span class={tone}>
        {sign} {word}
      </span>
      <span class="quiet why" title={last_failure && escapeInvisible(last_failure.reason)}>
        {last_failure && (
          <>
            {health === 'healthy' ? 'last failure ' : ''}
            <Time at={last_failure.at} form="clock" />: <UntrustedText text={last_failure.reason} />
          </>
        )}
      </span>
    </span>
  );
}
