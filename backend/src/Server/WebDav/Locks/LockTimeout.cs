using System.Globalization;

namespace Sluice.Server.WebDav.Locks;

/// <summary>
/// Parses <c>Timeout</c> (RFC 4918, section 10.7): <c>1#( "Second-" DAVTimeOutVal | "Infinite" )</c>. The first valid value wins, because clients list values
/// in order of preference.
/// </summary>
internal static class LockTimeout
{
    /// <summary>The maximum and default timeout, so that abandoned locks expire.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromHours(1);

    private const string Seconds = "Second-";

    /// <summary>Returns the granted timeout, at least one second.</summary>
    public static TimeSpan Parse(ReadOnlySpan<char> header)
    {
        foreach (var part in header.Split(','))
        {
            var wish = header[part].Trim();
            if (wish.Equals("Infinite", StringComparison.OrdinalIgnoreCase))
                return Longest;
            if (!wish.StartsWith(Seconds, StringComparison.OrdinalIgnoreCase))
                continue;
            var digits = wish[Seconds.Length..];
            if (digits.IsEmpty || digits.ContainsAnyExceptInRange('0', '9'))
                continue;
            return long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds)
                ? TimeSpan.FromSeconds(Math.Clamp(seconds, 1, (long)Longest.TotalSeconds))
                : Longest;
        }

        return Longest;
    }
}
