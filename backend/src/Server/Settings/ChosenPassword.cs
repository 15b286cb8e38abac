namespace Sluice.Server.Settings;

/// <summary>
/// A password that was judged strong enough (S8, CFG-51). Only <see cref="Judge"/> makes one, and <see cref="PasswordHash.Create"/> takes
/// nothing else, so no entrance can store a password that another one refuses.
/// </summary>
/// <remarks>Immutable.</remarks>
internal sealed class ChosenPassword
{
    /// <summary>The least number of characters.</summary>
    public const int MinLength = 8;

    /// <summary>The largest number of characters.</summary>
    public const int MaxLength = 1024;

    /// <summary>The passwords that are taken, for sentences with "must be".</summary>
    public static readonly string Rule = $"at least {MinLength} characters, and none of the passwords that are tried first";

    // What every list of default credentials begins with, as far as it is long enough.
    private static readonly string[] WellKnown =
    [
        "password", "password1", "password123", "passw0rd", "12345678", "123456789", "1234567890", "qwertyuiop", "qwerty123", "changeme",
        "changeme123", "adminadmin", "admin123", "admin1234", "administrator", "letmein1", "iloveyou", "nzbdav123", "sabnzbd1",
    ];

    private ChosenPassword(string text) => Text = text;

    /// <summary>The password.</summary>
    public string Text { get; }

    /// <summary>Takes a password; null if it is too short, too long, well known, or a stored hash.</summary>
    public static ChosenPassword? Judge(string text) =>
        text.Length is >= MinLength and <= MaxLength && SettingText.IsWellFormed(text) && SettingText.IsPlain(text)
        && !IsWellKnown(text) && !PasswordHash.IsHash(text) ? new ChosenPassword(text) : null;

    /// <summary>Whether a password is among the first that an attacker tries, or a repetition of one character.</summary>
    private static bool IsWellKnown(string text) =>
        WellKnown.Contains(text.Trim(), StringComparer.OrdinalIgnoreCase) || !text.AsSpan().ContainsAnyExcept(text[0]);
}
