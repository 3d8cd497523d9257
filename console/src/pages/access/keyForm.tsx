import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { createKey } from '../../api/server.ts';
import type { GatewayKey, Schemas } from '../../api/types.ts';
import { TextField } from '../../ui/form/fields.tsx';
import { CreationDialog } from './creation.tsx';
import type { FormProps } from './secretSection.tsx';

const LIMITS = [
  ['trace_filter_blocks', 'Blocks of trace_filter', 8_000],
  ['trace_filter_count', 'Traces of trace_filter', 10_000],
  ['logs_blocks', 'Blocks of eth_getLogs', 10_000],
  ['fee_history_blocks', 'Blocks of eth_feeHistory', 1_024],
] as const;

export function KeyForm({ isFirst, close, made }: FormProps<GatewayKey> & { readonly isFirst: boolean }) {
  const name = useSignal('');
  const rate = useSignal('');
  const methods = useSignal('');
  const limits = useMemo(
    () => LIMITS.map(([name, label, max]) => ({ name, label, max, text: signal('') })),
    [],
  );
  const days = useSignal('');
  const body = (): Schemas['GatewayKeyCreation'] => {
    const wanted = methods.value.split(/[\s,]+/).filter((method) => method !== '');
    const set = limits.filter(({ text }) => text.value !== '');
    return {
      name: name.value.trim(),
      ...(rate.value !== '' && { rate_per_second: Number(rate.value) }),
      ...(wanted.length > 0 && { methods: wanted }),
      ...(set.length > 0 && {
        limits: Object.fromEntries(set.map(({ name, text }) => [name, Number(text.value)])),
      }),
    };
  };
  return (
    <CreationDialog what="API key" create={createKey} {...{ body, days, close, made }}>
      {isFirst && (
        <p class="look">▲ This is the first key: from then on, the gateway rejects requests without a key.</p>
      )}
      <TextField label="Name" name="name" required maxLength={64} placeholder="explorer" text={name} />
      <TextField
        label="Calls per second (empty: no limit)"
        {...{ type: 'number', name: 'rate', min: 1, max: 1_000_000, step: 1, text: rate }}
      />
      <TextField
        label="Methods, separated by spaces (empty: all)"
        {...{ name: 'methods', placeholder: 'eth_call eth_getLogs', text: methods }}
      />
      <details>
        <summary>Limits of calls (empty: those of the server)</summary>
        {limits.map((limit) => (
          <TextField key={limit.name} type="number" min={1} step={1} {...limit} />
        ))}
      </details>
    </CreationDialog>
  );
}
