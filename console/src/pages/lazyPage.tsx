import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { ErrorBox } from '../ui/errorBox.tsx';

const OUTDATED = {
  ...{ what: 'This page could not be loaded.', still: 'Nothing was changed.', status: undefined, faults: [] },
  todo: 'The server is away, or has another version than this tab: reload the tab.',
};

/** Returns a page whose code is loaded when it is first shown. */
export function lazyPage(load: () => Promise<ComponentType>): ComponentType {
  const state = signal<{ readonly page?: ComponentType; readonly isFailed?: true }>({});
  return function LazyPage() {
    useEffect(() => {
      if (state.peek().page !== undefined) return;
      load().then(
        (page) => {
          state.value = { page };
        },
        () => {
          state.value = { isFailed: true };
        },
      );
    }, []);
    const { page: Page, isFailed } = state.value;
    if (isFailed) return <ErrorBox failure={OUTDATED} retry={() => location.reload()} />;
    return Page === undefined ? null : <Page />;
  };
}
