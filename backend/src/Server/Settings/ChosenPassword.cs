namespace Sluice.Server.Settings;

/// <summary>
/// A password that passed the strength rules (S8, CFG-51). Only <see cref="Judge"/> creates one, and <see cref="PasswordHash.Create"/> requires one, so
/// that every entry point applies the same rules.
/// </summary>
internal sealed class ChosenPassword
{
    public const int MinLength = 8;

    public const int MaxLength = 1024;

    /// <summary>The password rule, to follow "must be" in a sentence.</summary>
    public static readonly string Rule = $"at least {MinLength} characters, and none of the passwords that are tried first";

    // The most common default passwords that are long enough.
    private static readonly string[] WellKnown =
    [
        "password", "password1", "password123", "passw0rd", "12345678", "123456789", "1234567890", "qwertyuiop", "qwerty123", "changeme",
        "changeme123", "adminadmin", "admin123", "admin1234", "administrator", "letmein1", "iloveyou", "nzbdav123", "sabnzbd1",
    ];

    private ChosenPassword(string text) => Text = text;

    public string Text { get; }

    /// <summary>Returns null if the password is too short, too long, well known, or a stored hash.</summary>
    public static ChosenPassword? Judge(string text) =>
        text.Length is >= MinLength and <= MaxLength && SettingText.IsWellFormed(text) && SettingText.IsPlain(text)
        && !IsWellKnown(text) && !PasswordHash.IsHash(text) ? new ChosenPassword(text) : null;

    /// <summary>Whether a password is among the first that attackers try, or repeats a single character.</summary>
    private static bool IsWellKnown(string text) =>
        WellKnown.Contains(text.Trim(), StringComparer.OrdinalIgnoreCase) || !text.AsSpan().ContainsAnyExcept(text[0]);
}
