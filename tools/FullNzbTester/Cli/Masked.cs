namespace Sluice.Tools.FullNzbTester.Cli;

internal static class Masked
{
    /// <summary>Returns the first letter of a user name followed by dots, or an empty string.</summary>
    public static string User(string? user) => string.IsNullOrEmpty(user) ? "" : user[0] + "...";
}
