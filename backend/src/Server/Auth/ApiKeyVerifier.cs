using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>Verdict on an API key.</summary>
internal enum ApiKeyVerdict
{
    /// <summary>It is the key.</summary>
    Accepted,

    /// <summary>It is the key that opens adds alone.</summary>
    AcceptedForAdds,

    /// <summary>There was none.</summary>
    Missing,

    /// <summary>It is another one.</summary>
    Incorrect,

    /// <summary>It cannot be judged, because a key that it may be is locked (CFG-53).</summary>
    Locked,

    /// <summary>It is another one, and too much was wrong that came from this sender.</summary>
    Throttled,
}

/// <summary>Verifies <c>api.key</c> and <c>api.nzb-key</c> (SAB-10, SAB-12).</summary>
/// <remarks>Thread-safe. A right key is never throttled, and a wrong one that its sender brought before is no new guess.</remarks>
internal sealed class ApiKeyVerifier(IOptionsMonitor<ApiOptions> options, FailureBudget failures)
{
    /// <summary>Judges a key in constant time.</summary>
    /// <param name="key">As it came; null or empty when there was none.</param>
    /// <param name="caller">Its sender.</param>
    public ApiKeyVerdict Verify(string? key, Caller caller)
    {
        if (string.IsNullOrEmpty(key))
            return ApiKeyVerdict.Missing;

        // Both are always compared, and their hashes, because the lengths of those are equal whatever was sent.
        var sent = SHA256.HashData(Encoding.UTF8.GetBytes(key));
        var (isKey, isNzbKey) = (IsSame(sent, options.CurrentValue.Key), IsSame(sent, options.CurrentValue.NzbKey));
        if (isKey || isNzbKey)
            return isKey ? ApiKeyVerdict.Accepted : ApiKeyVerdict.AcceptedForAdds;

        // Never counted: it may be right.
        if (options.CurrentValue is { KeyIsLocked: true } or { NzbKeyIsLocked: true })
            return ApiKeyVerdict.Locked;

        return failures.TryAdd(CredentialKind.ApiKey, caller, failures.Mark(key)) ? ApiKeyVerdict.Incorrect : ApiKeyVerdict.Throttled;
    }

    private static bool IsSame(byte[] sent, string expected) =>
        CryptographicOperations.FixedTimeEquals(sent, SHA256.HashData(Encoding.UTF8.GetBytes(expected))) & expected.Length > 0;
}
