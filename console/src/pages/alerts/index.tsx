import { readAlerts, testAlerts } from '../../api/server.ts';
import type { Schemas } from '../../api/types.ts';
import './alerts.css';
import { useSignal } from '@preact/signals';
import { may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { Choice, useChoice } from '../../ui/form/choice.tsx';
import { confirm } from '../../ui/form/confirm.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { Table } from '../../ui/table/table.tsx';
import { showFailure } from '../../ui/toast.tsx';
import { useAction } from '../../ui/useAction.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { alertColumns, webhookColumns } from './columns.tsx';
import { type Alert, alertsHeadline, kindText, reasonText, type Webhook } from './texts.ts';

const REFRESH_MS = 10_000;
const CONFIGURATION = [
  'alerts:',
  '  webhooks:',
  '    - https://alerts.example.com/floodgate',
  '    - slack+https://hooks.slack.com/services/…',
].join('\n');

export function AlertsPage() {
  const reads = useLoaded(readAlerts, [], { everyMs: REFRESH_MS });
  const report = reads.value?.result;
  const state = report && alertsHeadline(report);
  return (
    <div class="page">
      <h1>
        {state && <span class={state.isWell ? 'well' : 'look'}>{state.isWell ? '● ' : '▲ '}</span>}
        <UntrustedText text={state?.text ?? 'Alerts'} />
      </h1>
      <LoadState of={reads} what="the alerts" />
      {report?.webhooks.length === 0 && (
        <EmptyState title="No webhook is configured" lines={CONFIGURATION}>
          Floodgate sends an HTTP request when a problem begins, and one when it ends. List the webhooks in
          the configuration file, then restart the server:
        </EmptyState>
      )}
      {report !== undefined && report.webhooks.length > 0 && (
        <>
          <Webhooks webhooks={report.webhooks} isSigned={report.is_signed} changed={reads.again} />
          <History history={report.history} webhookCount={report.webhooks.length} />
        </>
      )}
    </div>
  );
}

interface WebhooksProps {
  readonly webhooks: readonly Webhook[];
  readonly isSigned: boolean;
  readonly changed: () => void;
}

function Webhooks({ webhooks, isSigned, changed }: WebhooksProps) {
  const results = useSignal<readonly Schemas['AlertTest'][]>([]);
  const { isBusy, run } = useAction();
  const test = async () => {
    const isWanted = await confirm({
      title: 'Send a test alert?',
      text: `Each webhook receives one alert with the kind “test”: ${webhooks.map(({ name, host }) => `${name} (${host})`).join(', ')}. It may page people.`,
      action: 'Send the test alert',
    });
    if (!isWanted) return;
    const outcome = await run(testAlerts());
    if ('value' in outcome) results.value = outcome.value.result;
    else showFailure('No test was sent', outcome.failure);
    changed();
  };
  return (
    <section>
      <div class="head">
        <h2>Webhooks</h2>
        {may('nodes:write') && (
          <button type="button" disabled={isBusy} onClick={() => void test()}>
            {isBusy ? 'Sending …' : 'Send a test alert …'}
          </button>
        )}
      </div>
      <Table caption="Webhooks" columns={webhookColumns} rows={webhooks} keyOf={({ name }) => name} />
      {/* The space is reserved, so that the history does not move. */}
      <p class="test-results" role="status">
        {results.value.map(({ webhook, delivered, reason, duration_ms }) => (
          <span key={webhook} class={delivered ? 'well' : 'harm'}>
            {delivered ? '✓' : '✕'} {webhook}:{' '}
            {delivered ? `delivered in ${duration_ms} ms` : reasonText(reason)}
          </span>
        ))}
        {results.value.length === 0 && !isSigned && (
          <span class="look">
            ! Alerts are not signed: <code>alerts.secret</code> is not set.
          </span>
        )}
      </p>
    </section>
  );
}

interface HistoryProps {
  readonly history: readonly Alert[];
  readonly webhookCount: number;
}

function History({ history, webhookCount }: HistoryProps) {
  const kinds = [...new Set(history.map((alert) => alert.kind))].toSorted();
  const options = [['', 'all kinds'], ...kinds.map((one) => [one, kindText(one)] as const)] as const;
  const kind = useChoice('kind', options);
  const shown = history.filter((alert) => kind === '' || alert.kind === kind);
  return (
    <section>
      <div class="head">
        <h2>History</h2>
        <Choice name="kind" title="Kind" options={options} />
      </div>
      {shown.length === 0 ? (
        <p class="quiet">No alert was sent. The server keeps the last 100.</p>
      ) : (
        <Table
          caption="Alerts, newest first"
          columns={alertColumns(webhookCount)}
          rows={shown}
          keyOf={({ id }) => id}
        />
      )}
    </section>
  );
}
