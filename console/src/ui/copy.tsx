import { useSignal } from '@preact/signals';

const FEEDBACK_MS = 2_000;

/** Reports success, or a denied clipboard permission, in its own space, so that nothing moves. */
export function Copy({
  text,
  label = 'Copy',
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const told = useSignal<'copied' | 'refused' | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      told.value = 'copied';
    } catch {
      told.value = 'refused';
    }
    setTimeout(() => {
      told.value = undefined;
    }, FEEDBACK_MS);
  };
  const said = { copied: '✓ Copied', refused: '✕ Not allowed' };
  return (
    <button type="button" class="copy" onClick={copy}>
      <span class={told.value && 'away'}>{label}</span>
      <span class="told" role="status">
        {told.value && said[told.value]}
      </span>
    </button>
  );
}
