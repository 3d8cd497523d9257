import { useSignal } from '@preact/signals';

const FEEDBACK_MS = 2_000;

/** Button that copies text. It shows success or a denied permission instead of its label, so that nothing moves. */
export function Copy({
  text,
  label = 'Copy',
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const reported = useSignal<'copied' | 'refused' | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      reported.value = 'copied';
    } catch {
      reported.value = 'refused';
    }
    setTimeout(() => {
      reported.value = undefined;
    }, FEEDBACK_MS);
  };
  const said = { copied: '✓ Copied', refused: '✕ Not allowed' };
  return (
    <button type="button" class="copy" onClick={copy}>
      <span class={reported.value && 'away'}>{label}</span>
      <span class="reported" role="status">
        {reported.value && said[reported.value]}
      </span>
    </button>
  );
}
