import './palette.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isPaletteOpen } from '../keyboard.ts';
import { goTo } from '../navigate.ts';
import { Dialog } from '../ui/form/dialog.tsx';
import { counted } from '../ui/value/quantity.tsx';
import { UntrustedText } from '../ui/value/untrustedText.tsx';
import { type Hit, MAX_HITS, matchingHits } from './hit.ts';
import { type FoundObjects, fixedHits, readObjects, traceHits } from './sources.ts';

const close = () => {
  isPaletteOpen.value = false;
};

function open(hit: Hit | undefined): void {
  if (hit === undefined) return;
  close();
  if (typeof hit.open === 'string') goTo(hit.open);
  else hit.open();
}

/** Search of everything that the token may read. The objects are read once, when it opens. */
export function Palette() {
  const text = useSignal('');
  const selected = useSignal(0);
  const objects = useSignal<FoundObjects | undefined>(undefined);
  useEffect(() => {
    void readObjects().then((read) => (objects.value = read));
  }, []);
  const found = [
    ...traceHits(text.value),
    ...matchingHits([...fixedHits(), ...(objects.value?.hits ?? [])], text.value),
  ].slice(0, MAX_HITS);
  const move = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && found.length > 0)
      selected.value = (selected.value + step + found.length) % found.length;
    else if (event.key === 'Enter') open(found[selected.value]);
    else return;
    event.preventDefault();
    document.getElementById(`hit-${selected.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Dialog title="Search" close={close}>
      <div class="palette">
        <input
          role="combobox"
          aria-label="Search everything"
          aria-expanded="true"
          aria-controls="hits"
          aria-activedescendant={found.length > 0 ? `hit-${selected.value}` : undefined}
          placeholder="Page, rule, zone, attack, address, transaction, block …"
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            selected.value = 0;
          }}
          onKeyDown={move}
        />
        <div id="hits" role="listbox" aria-label="Results" tabIndex={-1}>
          {found.map((hit, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
            <div
              key={`${hit.kind} ${hit.title} ${hit.note}`}
              id={`hit-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === selected.value}
              onClick={() => open(hit)}
            >
              <span class="quiet">{hit.kind}</span>{' '}
              <span>
                <UntrustedText text={hit.title} /> <UntrustedText class="quiet" text={hit.note ?? ''} />
              </span>
            </div>
          ))}
        </div>
        <p class="quiet" role="status">
          {objects.value === undefined
            ? 'Reading rules, zones and attacks …'
            : found.length === 0
              ? 'Nothing found.'
              : found.length === MAX_HITS
                ? `The first ${MAX_HITS} hits. Type more to find others.`
                : `${counted(found.length, 'hit')}. ↑ ↓ to choose, Enter to open.`}
          {objects.value?.isWhole === false && (
            <span class="look"> ! Some rules, zones, list entries or attacks could not be read.</span>
          )}
        </p>
      </div>
    </Dialog>
  );
}
