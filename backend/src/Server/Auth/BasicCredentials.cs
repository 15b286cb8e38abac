using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>A user and password, and the headers verified against them. New settings create a new object, which invalidates verified headers (S3).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class BasicCredentials
{
    // A user sends the same credentials in only a few different headers.
    private const int MaxProved = 64;
    private static readonly TimeSpan ProofLifetime = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Memory = TimeSpan.FromHours(24);

    private readonly string _user;
    private readonly string _password;
    private readonly TimeProvider _time;
    private readonly CredentialMark _mark = new();

    // The expected header if the password is plain text. Known in advance, so that half a second of PBKDF2 does not delay the first request.
    private readonly UInt128? _expected;

    // Last use of each verified header.
    private readonly ConcurrentDictionary<UInt128, long> _proved = new();
    private readonly Lazy<PasswordHash?> _hash;

    /// <summary>The password is either plain text or the hash stored in the settings.</summary>
    public BasicCredentials(string user, string password, TimeProvider time)
    {
        (_user, _password, _time) = (user, password, time);
        _hash = new(() => PasswordHash.Of(password));
        if (ChosenPassword.Judge(password) is not null && !user.Contains(':', StringComparison.Ordinal))
            _expected = _mark.Of(HeaderOf(user, password));
    }

    /// <summary>Returns the Basic header of a user and password (RFC 7617).</summary>
    public static string HeaderOf(string user, string password) => $"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}"))}";

    public bool IsSet => _password.Length > 0;

    /// <summary>Whether user and password equal the current settings.</summary>
    public bool Match(WebDavOptions options) => options.User == _user && options.Password == _password;

    /// <summary>Returns the MAC under which a header is remembered.</summary>
    public UInt128 Proof(string header) => _mark.Of(header);

    /// <summary>Whether a header was verified and used within the last five minutes. If so, restarts the five minutes.</summary>
    public bool UseProof(UInt128 proof)
    {
        if (proof == _expected)
            return true;
        if (!_proved.TryGetValue(proof, out var used) || _time.GetElapsedTime(used) >= ProofLifetime)
            return false;

        _proved[proof] = _time.GetTimestamp();
        return true;
    }

    /// <summary>Whether a header was verified and used within the last day.</summary>
    public bool IsKnown(UInt128 proof) => _proved.TryGetValue(proof, out var used) && _time.GetElapsedTime(used) < Memory;

    /// <summary>Remembers a verified header. Calls must not overlap.</summary>
    public void AddProof(UInt128 proof)
    {
        if (_proved.Count >= MaxProved && !_proved.ContainsKey(proof))
            _proved.TryRemove(_proved.MinBy(entry => entry.Value).Key, out _);
        _proved[proof] = _time.GetTimestamp();
    }

    /// <summary>Compares user and password. An unknown user costs one PBKDF2 too, so that timing reveals no user names (S1).</summary>
    public bool Verify(string givenUser, string givenPassword)
    {
        var samePassword = _hash.Value?.Verify(givenPassword) == true;
        var sameUser = CryptographicOperations.FixedTimeEquals(HashOf(givenUser), HashOf(_user));
        return samePassword & sameUser;
    }

    // User names are case-insensitive, as on the servers that users migrate from.
    private static byte[] HashOf(string user) => SHA256.HashData(Encoding.UTF8.GetBytes(user.ToUpperInvariant()));
}
