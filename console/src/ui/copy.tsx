import { useSignal } from '@preact/signals';

const FEEDBACK_MS = 2_000;

/** Copies text. Over plain HTTP to another machine, browsers have no clipboard API, only the older command. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  // Nothing outside an open dialog can be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isCopied) throw new Error('the browser does not copy');
}

interface CopyProps {
  readonly text: string | (() => string);
  readonly label?: string;
}

/** Button that copies text. It shows success or a denied permission instead of its label, so that nothing moves. */
export function Copy({ text, label = 'Copy' }: CopyProps) {
  const reported = useSignal<'copied' | 'refused' | undefined>(undefined);
  const copy = async () => {
    try {
      await copyText(typeof text === 'string' ? text : text());
      reported.value = 'copied';
    } catch {
      reported.value = 'refused';
    }
    setTimeout(() => (reported.value = undefined), FEEDBACK_MS);
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
