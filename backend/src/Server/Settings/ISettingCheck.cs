namespace Sluice.Server.Settings;

/// <summary>Validates a setting before it is saved, because only the component that owns the setting understands the value.</summary>
internal interface ISettingCheck
{
    string Key { get; }

    /// <summary>Returns errors as sentences, which must not contain secret values.</summary>
    IEnumerable<string> Errors(string value);
}
