using System.Globalization;

namespace Sluice.Server.Settings;

/// <summary>Validates all changes together before any is saved (CFG-11).</summary>
internal static class SettingsValidator
{
    private static readonly Dictionary<string, SettingDefinition> ByKey = SettingSchema.All.ToDictionary(definition => definition.Key);

    /// <summary>Shown instead of a secret. Saving this placeholder keeps the secret (CFG-52).</summary>
    public const string Mask = "********";

    public static SettingDefinition? Definition(string key) => ByKey.GetValueOrDefault(key);

    /// <summary>Validates changes against the schema and against each other. Returns errors by key.</summary>
    /// <param name="changes">Plain values by key; null removes a saved value.</param>
    /// <param name="current">Effective values, needed to check settings against each other.</param>
    /// <param name="canonical">The changes in canonical form; complete only if there are no errors.</param>
    public static IReadOnlyDictionary<string, string[]> Validate(
        IReadOnlyDictionary<string, string?> changes, EffectiveSettings current, IEnumerable<ISettingCheck> checks, out IReadOnlyDictionary<string, string?> canonical)
    {
        var errors = new Dictionary<string, string[]>();
        var accepted = new Dictionary<string, string?>();
        foreach (var (key, text) in changes)
        {
            if (Definition(key) is not { } definition)
                errors[key] = ["There is no such setting."];
            else if (text is null)
                accepted[key] = null;
            else if (definition.Secret && text.Contains(Mask, StringComparison.Ordinal))
            {
                if (text != Mask)
                    errors[key] = [$"Holds {Mask}, which only stands for a secret that is not shown; enter the secret itself."];
            }
            else if (SettingReader.Read(definition, text, out _) is not { } value)
                errors[key] = [$"Must be {definition.Allowed}."];
            else if (checks.Where(check => check.Key == key).SelectMany(check => check.Errors(value)).ToArray() is { Length: > 0 } sentences)
                errors[key] = sentences;
            else
                accepted[key] = value;
        }

        if (errors.Count == 0)
            CheckTogether(accepted, current, errors);
        canonical = accepted;
        return errors;
    }

    private static void CheckTogether(Dictionary<string, string?> accepted, EffectiveSettings current, Dictionary<string, string[]> errors)
    {
        int After(string key) => int.Parse(
            accepted.TryGetValue(key, out var text) ? text ?? Definition(key)!.Default : current.Text(key), CultureInfo.InvariantCulture);

        // Check only changed settings, because saved values that contradict each other must not block other changes.
        bool Touches(string key, string other) => accepted.ContainsKey(key) || accepted.ContainsKey(other);

        if (Touches("queue.resume-threshold", "queue.max-items")
            && After("queue.max-items") > 0 && After("queue.resume-threshold") > After("queue.max-items"))
        {
            errors["queue.resume-threshold"] = ["Must not be above queue.max-items."];
        }

        if (Touches("usenet.login-timeout-seconds", "usenet.connect-timeout-seconds")
            && After("usenet.login-timeout-seconds") < After("usenet.connect-timeout-seconds"))
        {
            errors["usenet.login-timeout-seconds"] = ["Includes the time to connect and must not be below usenet.connect-timeout-seconds."];
        }

        // Require the password again, because it must be sent only to the host for which it was entered (S19).
        if (accepted.TryGetValue("rclone.host", out var host) && host != current.Text("rclone.host")
            && !string.IsNullOrEmpty(host) && (current.Text("rclone.pass").Length > 0 || current.IsLocked("rclone.pass")) && !accepted.ContainsKey("rclone.pass"))
        {
            errors["rclone.pass"] = ["Enter the password again: the saved one is not sent to another address."];
        }
    }
}
