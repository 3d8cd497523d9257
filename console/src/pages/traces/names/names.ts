/** The decoder of the page Traces. It is loaded with the operator's files when the page first needs it. */
import { effect, signal } from '@preact/signals';
import { call } from '../../../api/client.ts';
import { session } from '../../../session.ts';
import type { Decoder, NameFiles } from './decoder.ts';

/** Undefined until it is loaded. Then names replace selectors, and addresses get the case of EIP-55. */
export const decoder = signal<Decoder | undefined>();

let loading: Promise<void> | undefined;

effect(() => {
  if (session.value !== undefined) return;
  decoder.value = undefined;
  loading = undefined;
});

export function loadDecoder(): Promise<void> {
  loading ??= load();
  return loading;
}

async function load(): Promise<void> {
  try {
    const [{ Decoder }, names] = await Promise.all([
      import('./decoder.ts'),
      call<NameFiles>({ path: '/gateway/names' }),
    ]);
    decoder.value = new Decoder('value' in names ? names.value.result : { abis: {}, labels: {} });
  } catch {
    // Without the decoder the page shows selectors. The next subject loads it again.
    loading = undefined;
  }
}
