import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import {
  createKey,
  type GatewayKey,
  type GatewayKeyCreation,
  newRetryKey,
  type WithSecret,
} from '../../api/access.ts';
import type { Failure } from '../../api/failure.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { TextInput } from '../../ui/textInput.tsx';
import { expiryAfterDays, LIFETIMES } from './texts.ts';

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
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  const sent = useMemo(
    () => new Map<string, { readonly body: GatewayKeyCreation; readonly retryKey: string }>(),
    [],
  );
  const submit = async (event: Event) => {
    event.preventDefault();
    const wanted = methods.value.split(/[\s,]+/).filter((method) => method !== '');
    const set = limits.filter(({ text }) => text.value !== '');
    const body: GatewayKeyCreation = {
      name: name.value.trim(),
      ...(rate.value !== '' && { rate_per_second: Number(rate.value) }),
      ...(wanted.length > 0 && { methods: wanted }),
      ...(set.length > 0 && {
        limits: Object.fromEntries(set.map(({ name, text }) => [name, Number(text.value)])),
      }),
      ...(days.value !== '' && { expires_on: expiryAfterDays(days.value, Date.now()) }),
    };
    const chosen = JSON.stringify({ ...body, expires_on: days.value });
    const asked = sent.get(chosen) ?? { body, retryKey: newRetryKey() };
    sent.set(chosen, asked);
    isBusy.value = true;
    const answer = await createKey(asked.body, asked.retryKey);
    isBusy.value = false;
    if ('value' in answer) made(answer.value.result);
    else failure.value = answer.failure;
  };
  return (
    <Dialog title="New API key" close={close}>
      <form onSubmit={submit}>
        {failure.value && <ErrorBox failure={failure.value} />}
        {isFirst && (
          <p class="look">
            ▲ This is the first key: from then on, the gateway rejects requests without a key.
          </p>
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
        <label>
          Valid for
          <select
            value={days.value}
            onChange={(event) => {
              days.value = event.currentTarget.value;
            }}
          >
            <option value="">unlimited time</option>
            {LIFETIMES.map(([life, word]) => (
              <option key={life} value={life}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Create key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
