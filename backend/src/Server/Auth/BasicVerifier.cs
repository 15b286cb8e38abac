using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

internal enum LoginVerdict
{
    Accepted,

    /// <summary>The user or password is wrong, or the header is malformed.</summary>
    Refused,

    /// <summary>Not checked, because this sender has failed too often.</summary>
    Throttled,

    /// <summary>Not checked, because the queue is full.</summary>
    Busy,
}

/// <summary>
/// Verifies Basic credentials against <c>webdav.user</c> and <c>webdav.pass</c> (DAV-30 to DAV-32). Thread-safe. A valid header is hashed again only if it was
/// unused for five minutes. It has priority in the queue for a day. Changed settings apply immediately.
/// </summary>
internal sealed class BasicVerifier : IDisposable
{
    private const string Scheme = "Basic ";
    private static readonly UTF8Encoding Strict = new(false, throwOnInvalidBytes: true);

    private readonly TimeProvider _time;
    private readonly FailureBudget _failures;
    private readonly HashLine _line;
    private readonly IDisposable? _watch;
    private readonly KnownSenders? _known;
    private readonly PasswordRenewal? _renewal;
    private volatile BasicCredentials _credentials;
    private long _hashes;

    /// <summary>Subscribes to settings changes. A null <paramref name="known"/> or <paramref name="renewal"/> turns that feature off.</summary>
    public BasicVerifier(
        IOptionsMonitor<WebDavOptions> options,
        FailureBudget failures,
        HashLine line,
        TimeProvider time,
        KnownSenders? known = null,
        PasswordRenewal? renewal = null)
    {
        _known = known;
        _renewal = renewal;
        _time = time;
        _failures = failures;
        _line = line;
        _credentials = new BasicCredentials(options.CurrentValue.User, options.CurrentValue.Password, time);
        _watch = options.OnChange(Follow);
    }

    public bool HasCredentials => _credentials.IsSet;

    /// <summary>Number of slow hashes started for login attempts.</summary>
    public long Hashes => Interlocked.Read(ref _hashes);

    public ValueTask<LoginVerdict> VerifyAsync(string header, Caller caller, CancellationToken cancellationToken)
    {
        var credentials = _credentials;
        var proof = credentials.Proof(header);
        return credentials.UseProof(proof) ? AcceptAsync(caller) : VerifySlowlyAsync(header, caller, proof, credentials.IsKnown(proof), cancellationToken);
    }

    /// <summary>Checks a user and password that did not come from a Basic header.</summary>
    public ValueTask<LoginVerdict> VerifyAsync(string user, string password, Caller caller, CancellationToken cancellationToken) =>
        VerifyAsync(BasicCredentials.HeaderOf(user, password), caller, cancellationToken);

    public void Dispose() => _watch?.Dispose();

    private async ValueTask<LoginVerdict> VerifySlowlyAsync(string header, Caller caller, UInt128 proof, bool isKnown, CancellationToken cancellationToken)
    {
        // If no password is set, no login can succeed, so failures need not be counted.
        if (!_credentials.IsSet)
            return LoginVerdict.Refused;

        var isFamiliar = _known?.IsKnown(caller.Sender) == true;
        // A known address gets a separate budget, so that strangers behind the same proxy cannot lock it out.
        if (isFamiliar)
            caller = caller with { Proxy = null };
        if (!isKnown && _failures.WasWrong(CredentialKind.WebDav, caller, proof))
            return LoginVerdict.Refused;
        if (!isKnown && _failures.IsSpent(CredentialKind.WebDav, caller))
            return LoginVerdict.Throttled;
        if (Parse(header) is not { } attempt)
        {
            _failures.Add(CredentialKind.WebDav, caller, proof);
            return LoginVerdict.Refused;
        }

        var rank = isKnown ? HashLine.Known : isFamiliar ? HashLine.Familiar : _failures.Rank(CredentialKind.WebDav, caller);
        var verdict = await _line.JudgeAsync(new HashAttempt(CredentialKind.WebDav, proof, () => IsRight(attempt)), caller, rank, cancellationToken);
        if (verdict == true && _renewal is not null)
            await _renewal.RenewAsync(attempt.Password, cancellationToken);
        return verdict switch
        {
            true => await AcceptAsync(caller),
            false => LoginVerdict.Refused,
            null => LoginVerdict.Busy,
        };
    }

    private ValueTask<LoginVerdict> AcceptAsync(Caller caller)
    {
        var noted = _known?.NoteAsync(caller.Sender) ?? ValueTask.CompletedTask;
        return noted.IsCompletedSuccessfully ? ValueTask.FromResult(LoginVerdict.Accepted) : NotedAsync(noted);

        static async ValueTask<LoginVerdict> NotedAsync(ValueTask noted)
        {
            await noted;
            return LoginVerdict.Accepted;
        }
    }

    /// <summary>Hashes the password, which is deliberately slow. Runs one at a time.</summary>
    private bool IsRight(BasicAttempt attempt)
    {
        var credentials = _credentials;
        var proof = credentials.Proof(attempt.Header);
        // Another request may have verified the same header in the meantime.
        if (credentials.UseProof(proof))
            return true;

        Interlocked.Increment(ref _hashes);
        if (!credentials.Verify(attempt.User, attempt.Password))
            return false;

        credentials.AddProof(proof);
        return true;
    }

    /// <summary>
    /// Parses UTF-8 credentials according to RFC 7617, section 2; the scheme is case-insensitive. Refuses control characters, because HMAC in PBKDF2 pads with
    /// zeros, so a trailing NUL would not change the hash.
    /// </summary>
    private static BasicAttempt? Parse(string header)
    {
        if (!header.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase))
            return null;

        try
        {
            var text = Strict.GetString(Convert.FromBase64String(header[Scheme.Length..].Trim()));
            var colon = text.IndexOf(':', StringComparison.Ordinal);
            return colon < 0 || !SettingText.IsPlain(text) ? null : new BasicAttempt(header, text[..colon], text[(colon + 1)..]);
        }
        catch (Exception e) when (e is FormatException or DecoderFallbackException)
        {
            return null;
        }
    }

    private void Follow(WebDavOptions options)
    {
        if (!_credentials.Match(options))
            _credentials = new BasicCredentials(options.User, options.Password, _time);
    }
}

internal sealed record BasicAttempt(string Header, string User, string Password);

/// <summary>Rehashes an imported WebDAV password at its next login, because the plain text is known only then (CFG-42). Thread-safe.</summary>
internal sealed class PasswordRenewal(SettingsStore store, SettingsSource settings, ILogger<PasswordRenewal> logger)
{
    private const string Key = "webdav.pass";

    // 1 while a request replaces the hash. A second replacement would again invalidate all verified headers and send all clients back to the queue.
    private int _isReplacing;

    /// <summary>Rehashes a verified password if needed and no other request is doing so.</summary>
    public async Task RenewAsync(string password, CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _isReplacing, 1) != 0)
            return;
        try
        {
            await ReplaceAsync(password, cancellationToken);
        }
        finally
        {
            Volatile.Write(ref _isReplacing, 0);
        }
    }

    private async Task ReplaceAsync(string password, CancellationToken cancellationToken)
    {
        var saved = settings.Current[Key];
        if (saved.Origin != SettingOrigin.Saved || PasswordHash.Parse(saved.Value) is not { IsImported: true } before)
            return;
        try
        {
            if (await Task.Run(() => before.Renew(password), cancellationToken) is not { } hash)
                return;
            await store.SaveAsync(new Dictionary<string, string?> { [Key] = hash.ToString() }, cancellationToken);
        }
        catch (Exception e) when (e is StorageException or DatabaseLostException)
        {
            // The login itself succeeded. The next login tries again to rehash the password.
            AuthLog.NotRenewed(logger, e.Message);
        }
    }
}
