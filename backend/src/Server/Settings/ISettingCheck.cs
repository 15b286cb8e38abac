namespace Sluice.Server.Settings;

/// <summary>Validates a setting before it is saved, because only its owner understands the value.</summary>
internal interface ISettingCheck
{
    string Key { get; }

    /// <summary>Returns errors as sentences, which must not contain a secret value.</summary>
    IEnumerable<string> Errors(string value);
}
