import { useSignal } from '@preact/signals';
import type { Failure, Outcome } from '../api/failure.ts';

export function useAction() {
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  const run = async <T>(request: Promise<Outcome<T>>): Promise<Outcome<T>> => {
    isBusy.value = true;
    const outcome = await request;
    isBusy.value = false;
    failure.value = 'failure' in outcome ? outcome.failure : undefined;
    return outcome;
  };
  const forgetFailure = () => {
    failure.value = undefined;
  };
  return { failure: failure.value, isBusy: isBusy.value, run, forgetFailure };
}
