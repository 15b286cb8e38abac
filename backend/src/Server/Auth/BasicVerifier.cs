using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>Verdict on a user and a password.</summary>
internal enum LoginVerdict
{
    /// <summary>Both are right.</summary>
    Accepted,

    /// <summary>They are wrong or unreadable.</summary>
    Refused,

    /// <summary>Too many wrong ones came from this sender; these were not checked.</summary>
    Throttled,

    /// <summary>Too many others wait to be checked.</summary>
    Busy,
}

/// <summary>Verifies Basic credentials against <c>webdav.user</c> and <c>webdav.pass</c> (DAV-30 to DAV-32).</summary>
/// <remarks>
/// Thread-safe. A header that was right is right without another PBKDF2 until five minutes after its last use, and goes before
/// all others for a day; a change of settings counts at once.
/// </remarks>
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

    /// <summary>Follows the settings.</summary>
    /// <param name="options">User and password.</param>
    /// <param name="failures">Counts what is wrong.</param>
    /// <param name="line">The line in front of the slow hash.</param>
    /// <param name="time">The clock.</param>
    /// <param name="known">Addresses that were right before; null if none are remembered.</param>
    /// <param name="renewal">Is told of each password that was hashed and right; null if none is due.</param>
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

    /// <summary>Whether user and password are set.</summary>
    public bool HasCredentials => _credentials.Exist;

    /// <summary>How many slow hashes were begun for attempts.</summary>
    public long Hashes => Interlocked.Read(ref _hashes);

    /// <summary>Judges an Authorization header.</summary>
    /// <param name="header">As it came.</param>
    /// <param name="caller">Its sender.</param>
    /// <param name="cancellationToken">The client has gone.</param>
    public ValueTask<LoginVerdict> VerifyAsync(string header, Caller caller, CancellationToken cancellationToken)
    {
        var credentials = _credentials;
        var proof = credentials.Proof(header);
        return credentials.UseProof(proof) ? AcceptAsync(caller) : VerifySlowlyAsync(header, caller, proof, credentials.IsKnown(proof), cancellationToken);
    }

    /// <summary>Judges user and password that came otherwise than in a header.</summary>
    public ValueTask<LoginVerdict> VerifyAsync(string user, string password, Caller caller, CancellationToken cancellationToken) =>
        VerifyAsync(Scheme + Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}")), caller, cancellationToken);

    /// <inheritdoc/>
    public void Dispose() => _watch?.Dispose();

    /// <param name="header">As it came.</param>
    /// <param name="caller">Its sender.</param>
    /// <param name="proof">The form in which it is remembered, whether it turns out right or wrong.</param>
    /// <param name="isKnown">Whether it was right lately.</param>
    /// <param name="cancellationToken">The client has gone.</param>
    private async ValueTask<LoginVerdict> VerifySlowlyAsync(string header, Caller caller, UInt128 proof, bool isKnown, CancellationToken cancellationToken)
    {
        // Without a password nothing is right, and nothing is learned from it.
        if (!_credentials.Exist)
            return LoginVerdict.Refused;

        var isFamiliar = _known?.IsKnown(caller.Sender) == true;
        // An address that was right before answers for itself: others behind its proxy do not lock it out.
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

    /// <summary>The slow part, one at a time.</summary>
    private bool IsRight(BasicAttempt attempt)
    {
        var credentials = _credentials;
        var proof = credentials.Proof(attempt.Header);
        // An equal header may have been hashed after this one was looked up.
        if (credentials.UseProof(proof))
            return true;

        Interlocked.Increment(ref _hashes);
        if (!credentials.Verify(attempt.User, attempt.Password))
            return false;

        credentials.AddProof(proof);
        return true;
    }

    /// <summary>
    /// RFC 7617 section 2: <c>basic-credentials = base64(user-id ":" password)</c>, UTF-8, the scheme in any case, no control
    /// characters. HMAC, on which PBKDF2 stands, pads with zeros: to it a password and the same with a NUL behind it are one.
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
        if (!_credentials.AreOf(options))
            _credentials = new BasicCredentials(options.User, options.Password, _time);
    }
}

/// <summary>A well-formed header, with its user and password.</summary>
internal sealed record BasicAttempt(string Header, string User, string Password);

/// <summary>Hashes the WebDAV password anew when it is next known, where its hash was imported (CFG-42).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class PasswordRenewal(SettingsStore store, SettingsSource settings, ILogger<PasswordRenewal> logger)
{
    private const string Key = "webdav.pass";

    // 1 while a request replaces the hash. Each replacement drops what was proved by the hash before it, so that several of them would send
    // the clients back into the line again and again.
    private int _isUnderWay;

    /// <summary>Replaces the hash of a password that was right, where that is due and no other request does so.</summary>
    public async Task RenewAsync(string password, CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _isUnderWay, 1) != 0)
            return;
        try
        {
            await ReplaceAsync(password, cancellationToken);
        }
        finally
        {
            Volatile.Write(ref _isUnderWay, 0);
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
            // The password is right as it is, and is hashed anew the next time.
            AuthLog.NotRenewed(logger, e.Message);
        }
    }
}
