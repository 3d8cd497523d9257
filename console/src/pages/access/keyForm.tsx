import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { createKey, type GatewayKey, type GatewayKeyCreation, type WithSecret } from '../../api/access.ts';
import { TextInput } from '../../ui/form/textInput.tsx';
import { CreationDialog } from './creation.tsx';

const LIMITS = [
  ['trace_filter_blocks', 'Blocks of trace_filter', 8_000],
  ['trace_filter_count', 'Traces of trace_filter', 10_000],
  ['logs_blocks', 'Blocks of eth_getLogs', 10_000],
  ['fee_history_blocks', 'Blocks of eth_feeHistory', 1_024],
] as const;

interface KeyFormProps {
  readonly isFirst: boolean;
  readonly close: () => void;
  readonly made: (key: WithSecret<GatewayKey>) => void;
}

export function KeyForm({ isFirst, close, made }: KeyFormProps) {
  const name = useSignal('');
  const rate = useSignal('');
  const methods = useSignal('');
  const limits = useMemo(
    () => LIMITS.map(([name, title, max]) => ({ name, title, max, text: signal('') })),
    [],
  );
  const days = useSignal('');
  const body = (): GatewayKeyCreation => {
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
      <label>
        Name
        <TextInput name="name" required maxLength={64} placeholder="explorer" text={name} />
      </label>
      <label>
        Calls per second (empty: no limit)
        <TextInput type="number" name="rate" min={1} max={1_000_000} step={1} text={rate} />
      </label>
      <label>
        Methods, separated by spaces (empty: all)
        <TextInput name="methods" placeholder="eth_call eth_getLogs" text={methods} />
      </label>
      <details>
        <summary>Limits of calls (empty: those of the server)</summary>
        {limits.map(({ name, title, max, text }) => (
          <label key={name}>
            {title}
            <TextInput type="number" name={name} min={1} max={max} step={1} text={text} />
          </label>
        ))}
      </details>
    </CreationDialog>
  );
}
