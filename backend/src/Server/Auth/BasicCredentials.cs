using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// A user with a password, and the headers that proved right for them. A change of either makes a new object, so nothing
/// that was proved for the old password can outlive it (S3).
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class BasicCredentials
{
    // One user has one header, in a few spellings.
    private const int MaxProved = 64;
    private static readonly TimeSpan ProofLifetime = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Memory = TimeSpan.FromHours(24);

    private readonly string _user;
    private readonly string _password;
    private readonly TimeProvider _time;
    private readonly CredentialMark _mark = new();

    // Of the header that clients send for a password in plain text, as an environment variable holds it: it is known before the first
    // request, which would otherwise wait half a second of CPU for PBKDF2.
    private readonly UInt128? _expected;

    // When each was used last.
    private readonly ConcurrentDictionary<UInt128, long> _proved = new();
    private readonly Lazy<PasswordHash?> _hash;

    /// <param name="user">The user's name.</param>
    /// <param name="password">The password, in plain text or as the hash that the settings store.</param>
    /// <param name="time">The clock.</param>
    public BasicCredentials(string user, string password, TimeProvider time)
    {
        (_user, _password, _time) = (user, password, time);
        _hash = new(() => PasswordHash.Of(password));
        if (ChosenPassword.Judge(password) is not null && !user.Contains(':', StringComparison.Ordinal))
            _expected = _mark.Of($"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}"))}");
    }

    /// <summary>Whether there is a password at all.</summary>
    public bool Exist => _password.Length > 0;

    /// <summary>Whether these are the credentials of the settings.</summary>
    public bool AreOf(WebDavOptions options) => options.User == _user && options.Password == _password;

    /// <summary>The form in which a header is remembered.</summary>
    public UInt128 Proof(string header) => _mark.Of(header);

    /// <summary>Whether a header was right and used within the last five minutes; then it is for another five.</summary>
    public bool UseProof(UInt128 proof)
    {
        if (proof == _expected)
            return true;
        if (!_proved.TryGetValue(proof, out var used) || _time.GetElapsedTime(used) >= ProofLifetime)
            return false;

        _proved[proof] = _time.GetTimestamp();
        return true;
    }

    /// <summary>Whether a header was right and used within the last day.</summary>
    public bool IsKnown(UInt128 proof) => _proved.TryGetValue(proof, out var used) && _time.GetElapsedTime(used) < Memory;

    /// <summary>Remembers a right header. Called for one at a time.</summary>
    public void AddProof(UInt128 proof)
    {
        if (_proved.Count >= MaxProved && !_proved.ContainsKey(proof))
            _proved.TryRemove(_proved.MinBy(entry => entry.Value).Key, out _);
        _proved[proof] = _time.GetTimestamp();
    }

    /// <summary>
    /// Compares in full, with one PBKDF2 for any user: an unknown one costs as much as a known one (S1).
    /// </summary>
    public bool Verify(string givenUser, string givenPassword)
    {
        var samePassword = _hash.Value?.Verify(givenPassword) == true;
        var sameUser = CryptographicOperations.FixedTimeEquals(SHA256.HashData(Encoding.UTF8.GetBytes(givenUser)), SHA256.HashData(Encoding.UTF8.GetBytes(_user)));
        return samePassword & sameUser;
    }
}
