namespace Sluice.Server.Database;

/// <summary>Converts stored times, which are Unix milliseconds.</summary>
internal static class StoredTime
{
    private static readonly long First = DateTimeOffset.MinValue.ToUnixTimeMilliseconds();
    private static readonly long Last = DateTimeOffset.MaxValue.ToUnixTimeMilliseconds();

    /// <summary>Reads a stored time. Clamps impossible values, because one bad row must not break a whole list.</summary>
    public static DateTimeOffset Read(long milliseconds) => DateTimeOffset.FromUnixTimeMilliseconds(Math.Clamp(milliseconds, First, Last));
}
