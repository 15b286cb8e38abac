using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

internal enum ViewVerdict
{
    Accepted,

    Missing,

    Incorrect,

    Expired,

    /// <summary>The key cannot be checked, because a setting that may have signed it is locked (CFG-53).</summary>
    Locked,

    /// <summary>The key is wrong, and this sender has failed too often.</summary>
    Throttled,
}

/// <summary>Verifies the keys of signed links in constant time (DAV-81, DAV-83). Thread-safe. A valid key is never throttled.</summary>
internal sealed class ViewKey(IOptionsMonitor<ApiOptions> api, IOptionsMonitor<WebDavOptions> webDav, FailureBudget failures, TimeProvider time)
{
    private const string IdRoot = ".ids/";

    /// <summary>
    /// Signs a path: HMAC-SHA256 over <c>&lt;path&gt;[?expires=&lt;n&gt;]</c> in lowercase hex. The path is decoded, without a leading slash. The
    /// expiry is in Unix seconds, as in the link; null if the link never expires.
    /// </summary>
    public static string Sign(string secret, string path, string? expires)
    {
        var message = expires is null ? path : $"{path}?expires={expires}";
        return Convert.ToHexStringLower(HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), Encoding.UTF8.GetBytes(message)));
    }

    /// <summary>Checks a key. The path is decoded and has no leading slash; key and expiry are as received.</summary>
    public ViewVerdict Verify(string path, string? key, string? expires, Caller caller)
    {
        if (string.IsNullOrEmpty(key))
            return ViewVerdict.Missing;

        var until = long.MaxValue;
        var isReadable = expires is null || long.TryParse(expires, NumberStyles.None, CultureInfo.InvariantCulture, out until);
        if (isReadable & IsKeyOf(path, key, expires))
            return until > time.WallTime().ToUnixTimeSeconds() ? ViewVerdict.Accepted : ViewVerdict.Expired;

        // Do not count this as a failure, because the key may be valid.
        if (IsLocked(path))
            return ViewVerdict.Locked;

        return failures.TryAdd(CredentialKind.Link, caller, failures.Mark(key)) ? ViewVerdict.Incorrect : ViewVerdict.Throttled;
    }

    private bool IsLocked(string path) =>
        api.CurrentValue.KeyIsLocked
        || webDav.CurrentValue.StaticDownloadKeyIsLocked
        || (api.CurrentValue.StrmKeyIsLocked && path.StartsWith(IdRoot, StringComparison.Ordinal));

    /// <summary>Compares the key with every candidate, so that the response time does not reveal which one matched.</summary>
    private bool IsKeyOf(string path, string key, string? expires)
    {
        var options = api.CurrentValue;
        var isRight = IsEqual(key, webDav.CurrentValue.StaticDownloadKey) | IsSigned(options.Key);
        if (path.StartsWith(IdRoot, StringComparison.Ordinal))
        {
            isRight |= IsSigned(options.StrmKey);
            // Links from before signatures were introduced contain a hash of path and key.
            if (expires is null)
                isRight |= IsHashed(options.Key) | IsHashed(options.StrmKey);
        }

        return isRight;

        bool IsSigned(string secret) => secret.Length > 0 && IsEqual(key, Sign(secret, path, expires));
        bool IsHashed(string secret) =>
            secret.Length > 0 && IsEqual(key, Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes($"{path}_{secret}"))));
    }

    /// <summary>Compares hashes, because their length does not depend on the input. An empty setting never matches.</summary>
    private static bool IsEqual(string sent, string expected) =>
        CryptographicOperations.FixedTimeEquals(SHA256.HashData(Encoding.UTF8.GetBytes(sent)), SHA256.HashData(Encoding.UTF8.GetBytes(expected)))
        & expected.Length > 0;
}
