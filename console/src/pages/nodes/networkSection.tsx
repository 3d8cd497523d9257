import { useSignal } from '@preact/signals';
import type { Failure } from '../../api/failure.ts';
import { type NetworkHealth, type NodeHealth, setNode } from '../../api/operator.ts';
import { may } from '../../session.ts';
import { confirm } from '../../ui/confirm.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Plain } from '../../ui/plain.tsx';
import { percentText, wordFor } from '../../ui/quantity.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { tell } from '../../ui/undo.tsx';
import { countText } from '../traces/ether.ts';
import { bytesText, HEALTH } from './words.ts';

interface NetworkSectionProps {
  readonly network: NetworkHealth;
  readonly changed: () => void;
}

export function NetworkSection({ network, changed }: NetworkSectionProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  const set = async (node: string, action: 'drain' | 'resume') => {
    const answer = await setNode(network.network, node, action);
    failure.value = 'failure' in answer ? answer.failure : undefined;
    changed();
    return 'value' in answer;
  };
  const drain = async ({ node }: NodeHealth) => {
    const isWanted = await confirm({
      title: `Set ${node} aside?`,
      text: 'It finishes what it has been asked, and is asked nothing more. The other nodes take over.',
      action: 'Set aside',
    });
    if (isWanted && (await set(node, 'drain'))) tell(`${node} is set aside.`, () => void set(node, 'resume'));
  };
  const { index, cache } = network;
  const asked = cache.hits + cache.coalesced + cache.misses;
  return (
    <section class="network">
      <h2>
        <Plain text={network.network} />
        <span class="quiet">
          {network.chain_id !== null && `, chain ${Number(network.chain_id)}`}
          {network.head_block !== null && `, head ${countText(network.head_block as number)}`}
        </span>
      </h2>
      {failure.value && <ErrorBox failure={failure.value} />}
      <Table
        caption={`Nodes of ${network.network}`}
        columns={columns({ nodes: network.nodes, drain, resume: ({ node }) => void set(node, 'resume') })}
        rows={network.nodes}
        keyOf={({ node }) => node}
      />
      <dl class="figures">
        <Figure
          name="index"
          value={index.head_block === null ? 'empty' : `to block ${countText(index.head_block as number)}`}
        >
          {index.lag_blocks === null ? '' : `${countText(index.lag_blocks as number)} behind the head`}
        </Figure>
        <Figure
          name="gaps"
          value={
            index.first_missing_block === null
              ? 'none'
              : `from block ${countText(index.first_missing_block as number)}`
          }
        >
          {index.first_missing_block === null
            ? 'all that is to be indexed is there'
            : 'what is missing is told with every answer'}
        </Figure>
        <Figure name="indexed" value={`${index.blocks_per_second} blocks/s`}>
          last minute; {bytesText(index.bytes)} on disk
        </Figure>
        <Figure
          name="answered from the cache"
          value={asked === 0 ? '—' : percentText((cache.hits + cache.coalesced) / asked)}
        >
          of {countText(asked)} {wordFor(asked, 'call', 'calls')} since the start
        </Figure>
      </dl>
      {index.failure !== null && (
        <p class="harm">
          ✕ The index does not follow: <Plain text={String(index.failure)} />
        </p>
      )}
    </section>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly children: string | readonly (string | number)[];
}

export function Figure({ name, value, children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        <span class="quiet">{children}</span>
      </dd>
    </div>
  );
}

const blocksText = (count: number): string => `${countText(count)} ${wordFor(count, 'block', 'blocks')}`;

interface Actions {
  readonly nodes: readonly NodeHealth[];
  readonly drain: (node: NodeHealth) => void;
  readonly resume: (node: NodeHealth) => void;
}

function columns({ nodes, drain, resume }: Actions): readonly Column<NodeHealth>[] {
  // The last one that answers is not set aside by the server either.
  const isLast = nodes.filter(({ health }) => health === 'healthy').length < 2;
  const isOperator = may('nodes:write');
  return [
    {
      title: 'node',
      cell: ({ node, host }) => (
        <>
          <Plain text={node} />{' '}
          <span class="quiet">
            <Plain text={host} />
          </span>
        </>
      ),
    },
    { title: 'health', cell: (node) => <HealthOf node={node} /> },
    {
      title: 'head',
      isNumber: true,
      cell: ({ head_block }) => (head_block === null ? '—' : countText(head_block as number)),
    },
    {
      title: 'behind',
      isNumber: true,
      cell: ({ lag_blocks }) => (lag_blocks === null ? '—' : blocksText(lag_blocks as number)),
    },
    {
      title: 'answers in',
      isNumber: true,
      cell: ({ latency_ms }) => <span class="latency">{latency_ms.toFixed(1)} ms</span>,
    },
    { title: 'in flight', isNumber: true, cell: ({ in_flight }) => countText(in_flight) },
    { title: 'failures', isNumber: true, cell: ({ failures }) => countText(failures) },
    ...(isOperator
      ? [
          {
            title: 'service',
            cell: (node: NodeHealth) =>
              node.health === 'drained' || node.health === 'quarantined' ? (
                <button type="button" onClick={() => resume(node)}>
                  Put back
                </button>
              ) : (
                <button
                  type="button"
                  disabled={isLast || node.health !== 'healthy'}
                  onClick={() => drain(node)}
                >
                  Set aside
                </button>
              ),
          },
        ]
      : []),
  ];
}

function HealthOf({ node: { health, last_failure } }: { readonly node: NodeHealth }) {
  const { sign, tone, word, means } = HEALTH[health];
  return (
    <span class="health" title={means}>
      <span class={tone}>
        {sign} {word}
      </span>
      {last_failure && (
        <span class="quiet why">
          {health === 'healthy' ? 'last failure ' : ''}
          <Time at={last_failure.at} form="clock" />: <Plain text={last_failure.reason} />
        </span>
      )}
    </span>
  );
}
