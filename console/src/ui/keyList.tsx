import { isKeyListOpen } from '../keyboard.ts';
import { visiblePages } from '../pages/index.ts';
import { Dialog } from './form/dialog.tsx';

export function KeyList() {
  const close = () => {
    isKeyListOpen.value = false;
  };
  const rows = [
    ...visiblePages.value.map(({ key, title }) => [['g', key], `Go to ${title}`] as const),
    [['Ctrl', 'k'], 'Search everything'] as const,
    [['/'], 'Search this page'] as const,
    [['?'], 'Show this list'] as const,
    [['Esc'], 'Close the dialog'] as const,
  ];
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <dl class="keys">
        {rows.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
