using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// A user and password, with the headers that proved right. Changed settings create a new object, so no proof outlives the old password (S3).
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class BasicCredentials
{
    // One user sends one header, in few spellings.
    private const int MaxProved = 64;
    private static readonly TimeSpan ProofLifetime = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Memory = TimeSpan.FromHours(24);

    private readonly string _user;
    private readonly string _password;
    private readonly TimeProvider _time;
    private readonly CredentialMark _mark = new();

    // The usual header for a plain-text password from an environment variable. Knowing it in advance saves the first request half a second of PBKDF2.
    private readonly UInt128? _expected;

    // Last use of each header.
    private readonly ConcurrentDictionary<UInt128, long> _proved = new();
    private readonly Lazy<PasswordHash?> _hash;

    /// <summary>The password is plain text, or the hash that the settings store.</summary>
    public BasicCredentials(string user, string password, TimeProvider time)
    {
        (_user, _password, _time) = (user, password, time);
        _hash = new(() => PasswordHash.Of(password));
        if (ChosenPassword.Judge(password) is not null && !user.Contains(':', StringComparison.Ordinal))
            _expected = _mark.Of(HeaderOf(user, password));
    }

    /// <summary>Whether a password is set.</summary>
    /// <summary>Returns the header of a user and a password (RFC 7617).</summary>
    public static string HeaderOf(string user, string password) => $"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}"))}";

    public bool IsSet => _password.Length > 0;

    /// <summary>Whether user and password equal the current settings.</summary>
    public bool Match(WebDavOptions options) => options.User == _user && options.Password == _password;

    /// <summary>The form in which a header is remembered.</summary>
    public UInt128 Proof(string header) => _mark.Of(header);

    /// <summary>Whether a header proved right and was used within the last five minutes; extends its use by five more.</summary>
    public bool UseProof(UInt128 proof)
    {
        if (proof == _expected)
            return true;
        if (!_proved.TryGetValue(proof, out var used) || _time.GetElapsedTime(used) >= ProofLifetime)
            return false;

        _proved[proof] = _time.GetTimestamp();
        return true;
    }

    /// <summary>Whether a header proved right and was used within the last day.</summary>
    public bool IsKnown(UInt128 proof) => _proved.TryGetValue(proof, out var used) && _time.GetElapsedTime(used) < Memory;

    /// <summary>Remembers a right header. Calls must not overlap.</summary>
    public void AddProof(UInt128 proof)
    {
        if (_proved.Count >= MaxProved && !_proved.ContainsKey(proof))
            _proved.TryRemove(_proved.MinBy(entry => entry.Value).Key, out _);
        _proved[proof] = _time.GetTimestamp();
    }

    /// <summary>Compares in full. An unknown user also costs one PBKDF2, so that timing reveals no user names (S1).</summary>
    public bool Verify(string givenUser, string givenPassword)
    {
        var samePassword = _hash.Value?.Verify(givenPassword) == true;
        var sameUser = CryptographicOperations.FixedTimeEquals(HashOf(givenUser), HashOf(_user));
        return samePassword & sameUser;
    }

    // Names of logins compare without case, as they did on the servers that people come from.
    private static byte[] HashOf(string user) => SHA256.HashData(Encoding.UTF8.GetBytes(user.ToUpperInvariant()));
}
