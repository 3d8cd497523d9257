import { isKeyListOpen } from '../keyboard.ts';
import { shownPages } from '../pages/index.ts';
import { Dialog } from './dialog.tsx';

export function KeyList() {
  const close = () => {
    isKeyListOpen.value = false;
  };
  const rows = [
    ...shownPages.value.map(({ key, title }) => [['g', key], `go to ${title}`] as const),
    [['/'], 'search on this page'] as const,
    [['?'], 'this list'] as const,
    [['Esc'], 'close what is open'] as const,
  ];
  return (
    <Dialog title="Keys" close={close}>
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
