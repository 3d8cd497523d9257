import { useSignal } from '@preact/signals';
import { isKeyListOpen } from '../keyboard.ts';
import { goTo } from '../navigate.ts';
import { actorOf } from '../pages/activity/texts.ts';
import { visiblePages } from '../pages/index.ts';
import { account, chooseAccount, session, signOut } from '../session.ts';
import { Facts } from './facts.tsx';
import { Dialog } from './form/dialog.tsx';
import { CheckField, TextField } from './form/fields.tsx';
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
          <Link key={path} to={path} leave={close}>
            {title}
          </Link>
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
        <TextField
          label="Account"
          name="account"
          list="accounts"
          required
          text={chosen}
          pattern="[A-Za-z0-9_\-]{1,32}"
          title="1 to 32 letters, digits, _ and -"
        />
        <datalist id="accounts">
          {who.accounts.map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <button type="submit">Switch account</button>
      </form>
      <Facts
        rows={[
          [
            'Token',
            <>
              <UntrustedText text={actorOf({ by: who.id, label: who.label }).name} />
              {who.expires_on && (
                <>
                  , expires <Time at={who.expires_on} />
                </>
              )}
            </>,
          ],
          [
            'Permissions',
            <>
              {who.permissions.map((permission) => (
                <code key={permission}>{permission} </code>
              ))}
              for {who.all_accounts ? 'all accounts' : who.accounts.join(', ')}
            </>,
          ],
        ]}
      />
      <CheckField
        label="Show times in UTC"
        checked={isUtc.value}
        change={(isWanted) => (isUtc.value = isWanted)}
      />
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
