using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

internal enum ApiKeyVerdict
{
    Accepted,

    /// <summary>The key is valid, but allows only adding NZBs.</summary>
    AcceptedForAdds,

    Missing,

    Incorrect,

    /// <summary>The key cannot be checked, because a stored key cannot be decrypted (CFG-53).</summary>
    Locked,

    /// <summary>The key is wrong, and this sender has failed too often.</summary>
    Throttled,
}

/// <summary>Verifies <c>api.key</c> and <c>api.nzb-key</c> (SAB-10, SAB-12).</summary>
/// <remarks>Thread-safe. A valid key is never throttled. A repeated wrong key counts once, so a misconfigured client does not throttle its address.</remarks>
internal sealed class ApiKeyVerifier(IOptionsMonitor<ApiOptions> options, FailureBudget failures)
{
    /// <summary>Checks a key in constant time. The key may be null or empty.</summary>
    public ApiKeyVerdict Verify(string? key, Caller caller)
    {
        if (string.IsNullOrEmpty(key))
            return ApiKeyVerdict.Missing;

        // Always compare both keys, and by hash, so that neither time nor length depends on the input.
        var sent = SHA256.HashData(Encoding.UTF8.GetBytes(key));
        var (isKey, isNzbKey) = (IsSame(sent, options.CurrentValue.Key), IsSame(sent, options.CurrentValue.NzbKey));
        if (isKey || isNzbKey)
            return isKey ? ApiKeyVerdict.Accepted : ApiKeyVerdict.AcceptedForAdds;

        // Do not count this as a failure, because the key may be valid.
        if (options.CurrentValue is { KeyIsLocked: true } or { NzbKeyIsLocked: true })
            return ApiKeyVerdict.Locked;

        return failures.TryAdd(CredentialKind.ApiKey, caller, failures.Mark(key)) ? ApiKeyVerdict.Incorrect : ApiKeyVerdict.Throttled;
    }

    private static bool IsSame(byte[] sent, string expected) =>
        CryptographicOperations.FixedTimeEquals(sent, SHA256.HashData(Encoding.UTF8.GetBytes(expected))) & expected.Length > 0;
}
