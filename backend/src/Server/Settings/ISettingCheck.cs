namespace Sluice.Server.Settings;

/// <summary>Judges the value of one setting by its meaning before it is saved, where the meaning is known to another part of the server.</summary>
internal interface ISettingCheck
{
    /// <summary>The setting.</summary>
    string Key { get; }

    /// <summary>What is wrong with a value, in sentences without the value of a secret.</summary>
    IEnumerable<string> Errors(string value);
}
