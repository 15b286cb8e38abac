namespace Sluice.Server.Settings;

/// <summary>Checks the value of one setting before it is saved, if only another part of the server understands the value.</summary>
internal interface ISettingCheck
{
    string Key { get; }

    /// <summary>Returns error sentences. They must not contain the value of a secret.</summary>
    IEnumerable<string> Errors(string value);
}
