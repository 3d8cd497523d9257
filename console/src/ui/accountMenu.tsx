import { useSignal } from '@preact/signals';
import { isKeyListOpen } from '../keyboard.ts';
import { goTo } from '../navigate.ts';
import { actorOf } from '../pages/activity/texts.ts';
import { visiblePages } from '../pages/index.ts';
import { account, chooseAccount, session, signOut } from '../session.ts';
import { Dialog } from './form/dialog.tsx';
import { TextInput } from './form/textInput.tsx';
import { Link } from './link.tsx';
import { showToast } from './toast.tsx';
import { isUtc, Time } from './value/time.tsx';
import { UntrustedText } from './value/untrustedText.tsx';

export function AccountMenu() {
  const isOpen = useSignal(false);
  return (
    <>
      <button type="button" class="who" aria-haspopup="dialog" onClick={() => (isOpen.value = true)}>
        <UntrustedText text={account.value} />
        <span class="menu-sign" aria-hidden="true" />
        <span class="unseen"> account and menu</span>
      </button>
      {isOpen.value && <Menu close={() => (isOpen.value = false)} />}
    </>
  );
}

function Menu({ close }: { readonly close: () => void }) {
  const chosen = useSignal(account.value);
  const who = session.value;
  if (who === undefined) return null;
  return (
    <Dialog title="Account and token" close={close}>
      <nav class="other-places" aria-label="All pages">
        {visiblePages.value.map(({ path, title }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard activates the link inside, which fires a click
          // biome-ignore lint/a11y/noStaticElementInteractions: it only listens to clicks of the link inside
          <span key={path} onClick={close}>
            <Link to={path}>{title}</Link>
          </span>
        ))}
      </nav>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          chooseAccount(chosen.value.trim());
          goTo('/');
          close();
        }}
      >
        <label>
          Account
          <TextInput
            name="account"
            list="accounts"
            required
            pattern="[A-Za-z0-9_\-]{1,32}"
            title="1 to 32 letters, digits, _ and -"
            text={chosen}
          />
        </label>
        <datalist id="accounts">
          {(who.accounts === 'all' ? [] : who.accounts).map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <button type="submit">Switch account</button>
      </form>
      <dl class="facts">
        <dt>Token</dt>
        <dd>
          <UntrustedText text={actorOf({ by: who.tokenId, ...(who.label && { label: who.label }) }).name} />
          {who.expiresOn && (
            <>
              , expires <Time at={who.expiresOn} />
            </>
          )}
        </dd>
        <dt>Permissions</dt>
        <dd>
          {who.permissions.map((permission) => (
            <code key={permission}>{permission} </code>
          ))}
          for {who.accounts === 'all' ? 'all accounts' : who.accounts.join(', ')}
        </dd>
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={isUtc.value}
          onChange={(event) => (isUtc.value = event.currentTarget.checked)}
        />
        Show times in UTC
      </label>
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            close();
            isKeyListOpen.value = true;
          }}
        >
          Keyboard shortcuts
        </button>
        <button type="button" onClick={() => void leave(close)}>
          Sign out
        </button>
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

async function leave(close: () => void): Promise<void> {
  const failure = await signOut();
  if (failure === undefined) return;
  close();
  showToast(`You are still signed in. ${failure.what} Sign out again when it is back.`);
}
