namespace Sluice.Tools.FullNzbTester.Cli;

/// <summary>What may be shown of credentials.</summary>
internal static class Masked
{
    /// <summary>A user name as its first letter and dots; empty stays empty.</summary>
    public static string User(string? user) => string.IsNullOrEmpty(user) ? "" : user[0] + "...";
}
