import { type Column, timeColumn } from '../../ui/table/table.tsx';
import { counted } from '../../ui/value/quantity.tsx';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { type Alert, kindText, reasonText, type Webhook } from './texts.ts';

export const webhookColumns: readonly Column<Webhook>[] = [
  {
    title: 'Webhook',
    cell: ({ name, host }) => (
      <span>
        {name} <UntrustedText as="code" class="quiet" text={host} />
      </span>
    ),
  },
  { title: 'Format', cell: ({ form }) => (form === 'slack' ? 'Slack' : 'JSON') },
  {
    title: 'Last attempt',
    cell: ({ last_attempt: last }) =>
      last === undefined ? (
        <span class="quiet">none since the start</span>
      ) : (
        <span>
          {last.delivered ? (
            <span class="well">✓ delivered</span>
          ) : (
            <span class="harm">✕ {reasonText(last.reason)}</span>
          )}{' '}
          <span class="quiet">
            <Time at={last.at} form="clock" />
          </span>
        </span>
      ),
  },
  {
    title: 'Waiting',
    isNumber: true,
    cell: ({ waiting }) =>
      waiting === 0 ? '0 alerts' : <span class="look">▲ {counted(waiting, 'alert')}</span>,
  },
];

export const alertColumns = (webhookCount: number): readonly Column<Alert>[] => [
  timeColumn('Time', ({ at }) => at),
  {
    title: 'State',
    cell: ({ state, kind }) =>
      kind === 'test' ? (
        <span class="quiet">○ test</span>
      ) : state === 'firing' ? (
        <span class="look">▲ firing</span>
      ) : (
        <span class="well">✓ resolved</span>
      ),
  },
  {
    title: 'Alert',
    cell: ({ kind, subject, text }) => (
      <span>
        {kindText(kind)}: <UntrustedText text={subject} /> <UntrustedText class="quiet" text={text} />
      </span>
    ),
  },
  {
    title: 'Delivered to',
    cell: ({ delivered }) => (
      <span class={delivered.length < webhookCount ? 'look' : undefined}>
        {delivered.length < webhookCount &&
          `! ${delivered.length} of ${webhookCount}${delivered.length > 0 ? ': ' : ''}`}
        {delivered.join(', ')}
      </span>
    ),
  },
];
