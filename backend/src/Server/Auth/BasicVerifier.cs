using System.Net;
using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>Verifies Basic credentials against <c>webdav.user</c> and <c>webdav.pass</c> (DAV-30 to DAV-32).</summary>
/// <remarks>Thread-safe. A header that was right is right for five minutes without another PBKDF2; a change of settings counts at once.</remarks>
internal sealed class BasicVerifier : IDisposable
{
    private const string Scheme = "Basic ";
    private static readonly UTF8Encoding Strict = new(false, throwOnInvalidBytes: true);

    private readonly TimeProvider _time;
    private readonly FailureThrottle _throttle;

    // Users are the client's text and without number, so what is told is counted by address alone.
    private readonly FailureThrottle _told;
    private readonly IDisposable? _watch;

    // One slow hash at a time: guesses must not take the processor away from streams, and a burst of the same right header hashes once.
    private readonly SemaphoreSlim _hashing = new(1);
    private volatile BasicCredentials _credentials;
    private long _hashes;

    /// <summary>Follows the settings.</summary>
    public BasicVerifier(IOptionsMonitor<WebDavOptions> options, TimeProvider time)
    {
        _time = time;
        _throttle = new FailureThrottle(time);
        _told = new FailureThrottle(time);
        _credentials = new BasicCredentials(options.CurrentValue.User, options.CurrentValue.Password, time);
        _watch = options.OnChange(Follow);
    }

    /// <summary>Whether anybody could be let in.</summary>
    public bool HasCredentials => _credentials.Exist;

    /// <summary>How many slow hashes were computed for attempts.</summary>
    public long Hashes => Interlocked.Read(ref _hashes);

    /// <summary>Whether one more refusal of this address is worth a line: a guesser must not fill the log.</summary>
    public bool IsWorthTelling(IPAddress? address)
    {
        var client = address?.ToString() ?? "";
        if (_told.IsBlocked(client))
            return false;
        _told.Add(client);
        return true;
    }

    /// <summary>Judges an Authorization header.</summary>
    /// <param name="header">As it came.</param>
    /// <param name="address">Where it came from.</param>
    /// <param name="cancellationToken">The client has gone.</param>
    public ValueTask<BasicVerdict> VerifyAsync(string header, IPAddress? address, CancellationToken cancellationToken)
    {
        var credentials = _credentials;
        var proof = credentials.Proof(header);
        return credentials.IsProved(proof)
            ? ValueTask.FromResult(BasicVerdict.Accepted)
            : VerifySlowlyAsync(header, address, cancellationToken);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _watch?.Dispose();
        _hashing.Dispose();
    }

    private async ValueTask<BasicVerdict> VerifySlowlyAsync(string header, IPAddress? address, CancellationToken cancellationToken)
    {
        var (user, password) = Parse(header);
        var key = $"{address} {user}";
        if (_throttle.IsBlocked(key))
            return BasicVerdict.Throttled;

        await _hashing.WaitAsync(cancellationToken);
        try
        {
            // Whoever was before us in the line may have decided it.
            var credentials = _credentials;
            var proof = credentials.Proof(header);
            if (credentials.IsProved(proof))
                return BasicVerdict.Accepted;
            if (_throttle.IsBlocked(key))
                return BasicVerdict.Throttled;

            if (user is not null && credentials.Exist)
            {
                Interlocked.Increment(ref _hashes);
                if (credentials.Verify(user, password))
                {
                    credentials.AddProof(proof);
                    return BasicVerdict.Accepted;
                }
            }

            _throttle.Add(key);
            return BasicVerdict.Refused;
        }
        finally
        {
            _hashing.Release();
        }
    }

    /// <summary>RFC 7617 section 2: <c>basic-credentials = base64(user-id ":" password)</c>, UTF-8, the scheme in any case.</summary>
    private static (string? User, string Password) Parse(string header)
    {
        if (!header.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase))
            return (null, "");

        try
        {
            var text = Strict.GetString(Convert.FromBase64String(header[Scheme.Length..].Trim()));
            var colon = text.IndexOf(':', StringComparison.Ordinal);
            return colon < 0 ? (null, "") : (text[..colon], text[(colon + 1)..]);
        }
        catch (Exception e) when (e is FormatException or DecoderFallbackException)
        {
            return (null, "");
        }
    }

    private void Follow(WebDavOptions options)
    {
        if (!_credentials.AreOf(options))
            _credentials = new BasicCredentials(options.User, options.Password, _time);
    }
}
