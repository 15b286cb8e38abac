using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>Verdict on the key of a signed link.</summary>
internal enum ViewVerdict
{
    /// <summary>It is right and its time has not come.</summary>
    Accepted,

    /// <summary>There was none.</summary>
    Missing,

    /// <summary>It is not the key of this path.</summary>
    Incorrect,

    /// <summary>It was right and has run out.</summary>
    Expired,

    /// <summary>It cannot be judged, because a setting that it may be made with is locked (CFG-53).</summary>
    Locked,

    /// <summary>It is not the key of this path, and too much was wrong that came from this sender.</summary>
    Throttled,
}

/// <summary>Verifies the keys of signed links (DAV-81, DAV-83).</summary>
/// <remarks>Thread-safe. The right key is never throttled, and all comparisons take the same time whatever was sent.</remarks>
internal sealed class ViewKey(IOptionsMonitor<ApiOptions> api, IOptionsMonitor<WebDavOptions> webDav, FailureBudget failures, TimeProvider time)
{
    private const string IdRoot = ".ids/";

    /// <summary>The key of a path: lowercase hex of HMAC-SHA256 over <c>&lt;path&gt;[?expires=&lt;n&gt;]</c>.</summary>
    /// <param name="secret">The setting that it is made with.</param>
    /// <param name="path">The decoded path, without a slash at its start.</param>
    /// <param name="expires">Unix seconds after which it is of no use, as they stand in the link; null for never.</param>
    public static string Sign(string secret, string path, string? expires)
    {
        var message = expires is null ? path : $"{path}?expires={expires}";
        return Convert.ToHexStringLower(HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), Encoding.UTF8.GetBytes(message)));
    }

    /// <summary>Judges a key.</summary>
    /// <param name="path">The decoded path, without a slash at its start.</param>
    /// <param name="key">As it came; null or empty when there was none.</param>
    /// <param name="expires">As it came, or null.</param>
    /// <param name="caller">Its sender.</param>
    public ViewVerdict Verify(string path, string? key, string? expires, Caller caller)
    {
        if (string.IsNullOrEmpty(key))
            return ViewVerdict.Missing;

        var until = long.MaxValue;
        var isReadable = expires is null || long.TryParse(expires, NumberStyles.None, CultureInfo.InvariantCulture, out until);
        if (isReadable & IsKeyOf(path, key, expires))
            return until > time.WallTime().ToUnixTimeSeconds() ? ViewVerdict.Accepted : ViewVerdict.Expired;

        // Never counted: it may be right.
        if (IsLocked(path))
            return ViewVerdict.Locked;

        return failures.TryAdd(CredentialKind.Link, caller, failures.Mark(key)) ? ViewVerdict.Incorrect : ViewVerdict.Throttled;
    }

    private bool IsLocked(string path) =>
        api.CurrentValue.KeyIsLocked
        || webDav.CurrentValue.StaticDownloadKeyIsLocked
        || (api.CurrentValue.StrmKeyIsLocked && path.StartsWith(IdRoot, StringComparison.Ordinal));

    /// <summary>No branch depends on the key sent: it is compared with every candidate.</summary>
    private bool IsKeyOf(string path, string key, string? expires)
    {
        var options = api.CurrentValue;
        var isRight = IsEqual(key, webDav.CurrentValue.StaticDownloadKey) | IsSigned(options.Key);
        if (path.StartsWith(IdRoot, StringComparison.Ordinal))
        {
            isRight |= IsSigned(options.StrmKey);
            // The form of links that were made before there was a signature.
            if (expires is null)
                isRight |= IsHashed(options.Key) | IsHashed(options.StrmKey);
        }

        return isRight;

        bool IsSigned(string secret) => secret.Length > 0 && IsEqual(key, Sign(secret, path, expires));
        bool IsHashed(string secret) =>
            secret.Length > 0 && IsEqual(key, Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes($"{path}_{secret}"))));
    }

    /// <summary>Hashes are compared, because their lengths are equal whatever was sent. Nothing equals a key that is not set.</summary>
    private static bool IsEqual(string sent, string expected) =>
        CryptographicOperations.FixedTimeEquals(SHA256.HashData(Encoding.UTF8.GetBytes(sent)), SHA256.HashData(Encoding.UTF8.GetBytes(expected)))
        & expected.Length > 0;
}
