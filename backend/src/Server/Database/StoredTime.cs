namespace Sluice.Server.Database;

/// <summary>Times as rows have them: Unix milliseconds.</summary>
internal static class StoredTime
{
    private static readonly long First = DateTimeOffset.MinValue.ToUnixTimeMilliseconds();
    private static readonly long Last = DateTimeOffset.MaxValue.ToUnixTimeMilliseconds();

    /// <summary>The time of a row. One that no clock can show is the nearest that one can: an odd row must not hide the others.</summary>
    public static DateTimeOffset Read(long milliseconds) => DateTimeOffset.FromUnixTimeMilliseconds(Math.Clamp(milliseconds, First, Last));
}
