import { createKey } from '../../api/server.ts';
import type { GatewayKey, Schemas } from '../../api/types.ts';
import { useDraft } from '../../ui/form/draft.ts';
import { bindingOf, TextField } from '../../ui/form/fields.tsx';
import { CreationDialog } from './creation.tsx';
import type { FormProps } from './secretSection.tsx';

const LIMITS = [
  ['trace_filter_blocks', 'Blocks of trace_filter', 8_000],
  ['trace_filter_count', 'Traces of trace_filter', 10_000],
  ['logs_blocks', 'Blocks of eth_getLogs', 10_000],
  ['fee_history_blocks', 'Blocks of eth_feeHistory', 1_024],
] as const;

export function KeyForm({ isFirst, close, made }: FormProps<GatewayKey> & { readonly isFirst: boolean }) {
  const name = useDraft('name', '');
  const rate = useDraft('rate', '');
  const methods = useDraft('methods', '');
  const limits = useDraft<Readonly<Record<string, string>>>('limits', {});
  const days = useDraft('days', '');
  const body = (): Schemas['GatewayKeyCreation'] => {
    const wanted = methods.value.split(/[\s,]+/).filter((method) => method !== '');
    const set = Object.entries(limits.value).filter(([, limit]) => limit !== '');
    return {
      name: name.value.trim(),
      ...(rate.value !== '' && { rate_per_second: Number(rate.value) }),
      ...(wanted.length > 0 && { methods: wanted }),
      ...(set.length > 0 && {
        limits: Object.fromEntries(set.map(([limit, number]) => [limit, Number(number)])),
      }),
    };
  };
  return (
    <CreationDialog what="API key" create={createKey} body={body} days={days} close={close} made={made}>
      {isFirst && (
        <p class="look">▲ This is the first key: from then on, the gateway rejects requests without a key.</p>
      )}
      <TextField label="Name" name="name" required maxLength={64} placeholder="explorer" text={name} />
      <TextField
        label="Calls per second (empty: no limit)"
        type="number"
        name="rate"
        min={1}
        max={1_000_000}
        step={1}
        text={rate}
      />
      <TextField
        label="Methods, separated by spaces (empty: all)"
        name="methods"
        placeholder="eth_call eth_getLogs"
        text={methods}
      />
      <details>
        <summary>Limits of calls (empty: those of the server)</summary>
        {LIMITS.map(([limit, label, max]) => (
          <TextField
            key={limit}
            type="number"
            name={limit}
            label={label}
            min={1}
            max={max}
            step={1}
            text={bindingOf(limits.value, (changed) => (limits.value = changed), limit)}
          />
        ))}
      </details>
    </CreationDialog>
  );
}
